/** The density of a table on the sky: of all cells as stored, and of finer ones where the map shows them. */

import { cellCount, coarsenCounts, MAX_ORDER } from '../sky/healpixCells';
import { loadRowCount, type Density, type RowCount } from '../tables/tableFacts';
import { queryRows, toNumber } from '../tap/jsonRows';

/** A tile has 4 ** DEPTH cells, as in HiPS. */
const DEPTH = 6;
/** Neighbours that a row should have in its cell: fewer make a map of noise. */
const NEIGHBOURS = 4;
/** Tiles of one request. */
const TILES_AT_ONCE = 24;
/** Tiles that are kept of a table: 16 kB each. */
const MAX_KEPT = 400;

export class DensityLayer {
    count = $state.raw<RowCount | undefined>();
    failed = $state('');
    /** grows when more is known */
    version = $state(0);
    visible = $state(false);
    /** 0 to 1 */
    opacity = $state(1);
    // eslint-disable-next-line svelte/prefer-svelte-reactivity -- `version` tells of changes
    #coarse = new Map<number, Float64Array>();
    // eslint-disable-next-line svelte/prefer-svelte-reactivity -- `version` tells of changes
    #tiles = new Map<string, Float64Array>();

    constructor(
        readonly table: string,
        readonly position: { readonly ra: string; readonly dec: string },
        /** the position in the list, for its colour */
        readonly number: number,
    ) {}

    get rows(): number {
        return this.count?.rows ?? 0;
    }

    /** Load the stored density. Never raises; `failed` holds the reason. */
    async load(): Promise<void> {
        try {
            this.count = await loadRowCount(this.table);
            this.version++;
        } catch (error) {
            this.failed = (error as Error).message;
        }
    }

    /** The finest order of all cells. */
    get storedOrder(): number {
        return this.count?.density?.order ?? -1;
    }

    /** The finest order whose cells hold several rows where the rows are. */
    readonly finestOrder: number = $derived(this.count?.density ? usefulOrder(this.count.density) : -1);

    /** The fraction of the sky where rows are, by the cells of `finestOrder`, at most the stored ones. */
    readonly coverage: number = $derived(coverageOf(this.countsAt(Math.min(this.finestOrder, this.storedOrder))));

    /** Return the counts of all cells of an order up to the stored one. */
    countsAt(order: number): Float64Array | undefined {
        const density = this.count?.density;
        if (!density || order > density.order) return undefined;
        const known = this.#coarse.get(order) ?? coarsenCounts(density.order, density.cells, density.counts, order);
        this.#coarse.set(order, known);
        return known;
    }

    /** Return the rows in a cell of an order, from its tile; undefined if it is not here. */
    countInTile(order: number, cell: number): number | undefined {
        const tile = this.#tiles.get(`${order}/${cell >>> (2 * DEPTH)}`);
        return tile?.[cell & (4 ** DEPTH - 1)];
    }

    /** Load the tiles of an order that lack, for the cells of `order - DEPTH`. Never raises. */
    async loadTiles(order: number, tiles: Iterable<number>, signal: AbortSignal): Promise<void> {
        if (order > MAX_ORDER || order < DEPTH) return;
        const lacking = [...tiles].filter((tile) => !this.#tiles.has(`${order}/${tile}`)).slice(0, MAX_KEPT / 2);
        try {
            for (let from = 0; from < lacking.length && !signal.aborted; from += TILES_AT_ONCE)
                await this.#askTiles(order, lacking.slice(from, from + TILES_AT_ONCE), signal);
        } catch {
            // the coarser cells are kept: the map does not get worse
        }
        for (const key of [...this.#tiles.keys()].slice(0, Math.max(0, this.#tiles.size - MAX_KEPT)))
            this.#tiles.delete(key);
    }

    async #askTiles(order: number, tiles: readonly number[], signal: AbortSignal): Promise<void> {
        const { ra, dec } = this.position;
        const query =
            `SELECT hpx, COUNT(*) AS n FROM (SELECT ivo_healpix_index(${order}, ${ra}, ${dec}) AS hpx FROM ${this.table} ` +
            `WHERE 1 = CONTAINS(POINT(${ra}, ${dec}), REGION('${order - DEPTH}/${tiles.join(',')}'))) AS cells GROUP BY hpx`;
        const { data } = await queryRows(query, { maxrec: tiles.length * 4 ** DEPTH, signal });
        for (const tile of tiles) this.#tiles.set(`${order}/${tile}`, new Float64Array(4 ** DEPTH));
        for (const [cell, rows] of data) {
            const tile = this.#tiles.get(`${order}/${toNumber(cell) >>> (2 * DEPTH)}`);
            if (tile) tile[toNumber(cell) & (4 ** DEPTH - 1)] = toNumber(rows);
        }
        this.version++;
    }
}

/**
 * Return the finest order at which the rows have NEIGHBOURS in their cells, on average over the rows; a cell's rows are
 * quartered by each order. Beyond the stored order it is extrapolated.
 */
export function usefulOrder({ order, counts }: Pick<Density, 'order' | 'counts'>): number {
    let [rows, squares] = [0, 0];
    for (const count of counts) {
        rows += count;
        squares += count * count;
    }
    // a row does not count itself
    const neighbours = rows ? squares / rows - 1 : 0;
    const finer = Math.floor(Math.log2(neighbours / NEIGHBOURS) / 2);
    return Math.max(0, Math.min(MAX_ORDER, order + (neighbours > 0 ? finer : -order)));
}

function coverageOf(counts: Float64Array | undefined): number {
    if (!counts) return NaN;
    let filled = 0;
    for (const count of counts) if (count > 0) filled++;
    return filled / counts.length;
}

/** Return the order whose cells have about this number of pixels of a map. */
export function orderForScale(degrees: number, pixels: number): number {
    const cell = Math.sqrt((4 * Math.PI) / cellCount(0)) * (180 / Math.PI);
    return Math.max(0, Math.min(MAX_ORDER, Math.round(Math.log2(cell / (degrees * pixels)))));
}

/** Return the order of the tiles of an order. */
export const tileOrder = (order: number): number => order - DEPTH;
