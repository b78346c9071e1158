/** Sampled rows in memory: which meet which filter, and counts of those that do. */

import { DEGREE, toVector } from '../sky/directions';
import type { Circle, Range, TableFilters } from './tableFilters';

/** Mark of the filter on the sky; the quantities have the bits below. */
const SKY = 7;
/** The cell of rows outside a panel's view. */
export const OUTSIDE = 0xffff;

/** Counts in the cells of a panel. */
export interface CellCounts {
    /** rows that meet all filters */
    readonly kept: Uint32Array;
    /** rows that meet the filters of the other panels */
    readonly around: Uint32Array;
}

export class SampledRows {
    readonly rows: number;
    #failing: Uint8Array;
    #applied = new Map<number, Range | Circle>();
    #vectors: Float32Array | undefined;

    /**
     * @param names The quantities' names, at most seven.
     * @param columns Their values, one per row; NaN for NULL, which meets no filter.
     * @param position Right ascension and declination of each row in degrees, if there are any.
     * @param percent How much of the table has been sampled.
     */
    constructor(
        readonly names: readonly string[],
        readonly columns: readonly Float64Array[],
        readonly position: readonly [Float64Array, Float64Array] | undefined,
        readonly percent: number,
    ) {
        this.rows = columns[0]?.length ?? position?.[0].length ?? 0;
        this.#failing = new Uint8Array(this.rows);
    }

    valuesOf(name: string): Float64Array | undefined {
        return this.columns[this.names.indexOf(name)];
    }

    /** Mark the rows that fail filters; only changed filters cost time. */
    applyFilters({ ranges, circle }: TableFilters): void {
        this.names.forEach((name, bit) => this.#applyOne(bit, ranges.get(name), markRange(this.columns[bit]!)));
        if (this.position) this.#applyOne(SKY, circle, (around: Circle) => this.#markCircle(around));
    }

    #applyOne<Filter extends Range | Circle>(
        bit: number,
        filter: Filter | undefined,
        makeTest: (filter: Filter) => (marks: Uint8Array, flag: number) => void,
    ): void {
        if (this.#applied.get(bit) === filter) return;
        const flag = 1 << bit;
        if (filter) {
            makeTest(filter)(this.#failing, flag);
            this.#applied.set(bit, filter);
        } else {
            for (let row = 0; row < this.rows; row++) this.#failing[row]! &= ~flag;
            this.#applied.delete(bit);
        }
    }

    /** Compare chords of unit vectors, which is exact for small circles too. */
    #markCircle({ ra, dec, radius }: Circle): (marks: Uint8Array, flag: number) => void {
        const vectors = (this.#vectors ??= unitVectors(...this.position!));
        const [x, y, z] = toVector(ra, dec);
        const most = (2 * Math.sin((radius * DEGREE) / 2)) ** 2;
        return (marks, flag) => {
            for (let row = 0, at = 0; row < marks.length; row++, at += 3) {
                const [a, b, c] = [vectors[at]! - x, vectors[at + 1]! - y, vectors[at + 2]! - z];
                if (a * a + b * b + c * c <= most) marks[row]! &= ~flag;
                else marks[row]! |= flag;
            }
        };
    }

    /** Count the rows that meet all filters. */
    countKept(): number {
        let kept = 0;
        const failing = this.#failing;
        for (let row = 0; row < failing.length; row++) if (failing[row] === 0) kept++;
        return kept;
    }

    /**
     * Count rows in the cells of a panel.
     *
     * @param cells The cell of each row, below `size`, or OUTSIDE.
     * @param own The names of the panel's quantities, or 'sky': their filters do not empty the panel.
     */
    countCells(cells: Uint16Array, size: number, own: readonly string[]): CellCounts {
        const [kept, around] = [new Uint32Array(size), new Uint32Array(size)];
        const others = ~own.reduce((bits, name) => bits | (1 << this.#bitOf(name)), 0);
        const failing = this.#failing;
        for (let row = 0; row < cells.length; row++) {
            const [marks, cell] = [failing[row]!, cells[row]!];
            if (cell === OUTSIDE || (marks & others) !== 0) continue;
            around[cell]!++;
            if (marks === 0) kept[cell]!++;
        }
        return { kept, around };
    }

    #bitOf(name: string): number {
        const bit = this.names.indexOf(name);
        return bit < 0 ? SKY : bit;
    }
}

function markRange(values: Float64Array): ({ min, max }: Range) => (marks: Uint8Array, flag: number) => void {
    return ({ min, max }) =>
        (marks, flag) => {
            for (let row = 0; row < values.length; row++) {
                const value = values[row]!;
                if (value >= min && value <= max) marks[row]! &= ~flag;
                else marks[row]! |= flag;
            }
        };
}

/** Return x, y, z of each direction (degrees), one after the other. */
function unitVectors(longitudes: Float64Array, latitudes: Float64Array): Float32Array {
    const vectors = new Float32Array(3 * longitudes.length);
    for (let row = 0, at = 0; row < longitudes.length; row++, at += 3) {
        const [longitude, latitude] = [longitudes[row]! * DEGREE, latitudes[row]! * DEGREE];
        const across = Math.cos(latitude);
        vectors[at] = across * Math.cos(longitude);
        vectors[at + 1] = across * Math.sin(longitude);
        vectors[at + 2] = Math.sin(latitude);
    }
    return vectors;
}

/** Return the bin of each value between two ends, the upper one in the last bin. */
export function binCells(values: Float64Array, { min, max }: Range, bins: number): Uint16Array {
    const cells = new Uint16Array(values.length);
    const scale = bins / (max - min);
    for (let row = 0; row < values.length; row++) {
        const value = values[row]!;
        cells[row] = value >= min && value <= max ? Math.min(bins - 1, Math.floor((value - min) * scale)) : OUTSIDE;
    }
    return cells;
}

/** Return the cell of each row in a grid, by rows from the least vertical value. */
export function gridCells(
    [u, v]: readonly [Float64Array, Float64Array],
    [across, up]: readonly [Range, Range],
    [columns, rows]: readonly [number, number],
): Uint16Array {
    const [cells, heights] = [binCells(u, across, columns), binCells(v, up, rows)];
    for (let row = 0; row < cells.length; row++) {
        const [i, j] = [cells[row]!, heights[row]!];
        cells[row] = i === OUTSIDE || j === OUTSIDE ? OUTSIDE : j * columns + i;
    }
    return cells;
}

/** Return the range of the values but for a thousandth at either end, with some room; of all for few values. */
export function suitableRange(values: Float64Array): Range {
    const stride = Math.max(1, Math.floor(values.length / 50_000));
    const sorted = values.filter((value, at) => at % stride === 0 && Number.isFinite(value)).sort();
    if (sorted.length === 0) return { min: 0, max: 1 };
    const cut = Math.floor(sorted.length * 0.001);
    const [low, high] = [sorted[cut]!, sorted[sorted.length - 1 - cut]!];
    const room = (high - low) * 0.03 || Math.abs(low) * 0.05 || 0.5;
    return { min: low - room, max: high + room };
}
