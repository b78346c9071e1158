/**
 * The arrangement of a result: views, tiles, plots, selection, filters and sorting. As JSON it is kept with the tab and
 * stands in links; columns are named there, so that it fits the result of a changed query as far as possible.
 */

import type { KeptArrangement } from '../grid/columnArrangement.svelte';
import { GridState } from '../grid/gridState.svelte';
import type { Table, View } from '../model/resultModel';
import { findSteps, keepStep, repeatSteps, type KeptStep } from '../plots/table/brushSteps';
import { keepSettings, readSettings, type Json } from '../plots/table/keptSettings';
import type { PlotKind } from '../plots/points/plotSettings';
import { TOOLS, type TablePlot, type Tool } from '../plots/table/tablePlot.svelte';
import { TablePlots } from '../plots/table/tablePlots.svelte';
import { TableClosed } from '../rows/workerLink';
import { keepRows, readRows, type KeptRows } from './keptRows';
import { addNextTo, arrangeTiles, keepTiles, listTiles, readTiles, type Preset, type Tiles } from './tileLayout';
import { findRoom, type TilePositions } from './tilePositions';

/** The table's tile. */
export const TABLE = 'table';

export interface KeptPlot {
    readonly settings: Json;
    readonly view?: readonly number[];
    readonly tool?: Tool;
    readonly pinned?: boolean;
}

/** Rows chosen by boxes and lines in plots, or by their numbers. */
type KeptSelection = { readonly steps: readonly KeptStep[] } | { readonly rows: readonly number[] };

export interface KeptLayout extends KeptRows {
    /** of the query whose rows are filtered, sorted and chosen: other rows are not */
    readonly query?: string;
    readonly view?: View;
    /** plots are named plot1, plot2 ... in the order of `plots` */
    readonly tiles?: Tiles;
    readonly largest?: string;
    readonly plots?: readonly KeptPlot[];
    readonly selection?: KeptSelection;
    readonly columns?: KeptArrangement;
}

/** More rows than these are not kept by their numbers. */
const MOST_ROWS = 200;
const VIEWS: readonly View[] = ['both', 'table', 'plot', 'columns'];

export interface LayoutOptions {
    /** the layout as it was kept; '' for none */
    readonly kept: string;
    /** the query that the result is of */
    readonly query: string;
    /** the order of rows never changes: they can be kept by their numbers */
    readonly stored: boolean;
}

export class ResultLayout {
    /** undefined: table and plot where there is room */
    view = $state<View | undefined>();
    tiles = $state.raw<Tiles>('');
    /** the tile that fills the result */
    largest = $state<string | undefined>();
    /** the plot that is shown where there is room for one only */
    front = $state('');
    /** columns and kinds of plots that the result does not have */
    unknown = $state.raw<readonly string[]>([]);
    readonly plots: TablePlots;
    readonly grid: GridState;
    /** the kept layout, until it has been restored */
    #waiting = $state.raw<KeptLayout | undefined>();
    #selection = $state.raw<KeptSelection | undefined>();

    constructor(
        readonly table: Table,
        private readonly options: LayoutOptions,
    ) {
        this.plots = new TablePlots(table);
        this.grid = new GridState(table);
        this.tiles = this.#usualTiles;
        this.#waiting = readLayout(options.kept);
    }

    /** The layout as it is kept; '' if it is the usual one. */
    readonly written = $derived.by(() => {
        const kept = this.#waiting ?? this.#toKept();
        return Object.keys(kept).length ? JSON.stringify(kept) : '';
    });

    get #usualTiles(): Tiles {
        return arrangeTiles('sideBySide', TABLE, this.#ids);
    }

    get #ids(): string[] {
        return this.plots.list.map(({ id }) => id);
    }

    /** Restore the kept layout when the columns are known. */
    async restore(): Promise<void> {
        const kept = this.#waiting;
        if (!kept) return;
        // plots and filters may be of computed columns
        const left = kept.columns ? await this.grid.arrangement.fromKept(kept.columns) : [];
        const { fields } = this.table;
        this.unknown = left;
        this.#restorePlots(kept);
        this.view = VIEWS.find((view) => view === kept.view);
        this.tiles = readTiles(kept.tiles, [TABLE, ...this.#ids]) ?? this.#usualTiles;
        this.largest = listTiles(this.tiles).find((tile) => tile === kept.largest);
        const sameQuery = kept.query === hashOf(this.options.query);
        if (sameQuery) {
            const { sorting, filters, unknown } = readRows(kept, fields);
            this.unknown = [...this.unknown, ...unknown];
            this.grid.filtering = filters.length > 0;
            this.#selection = kept.selection;
            if (filters.length) await this.table.filterBy(filters);
            if (sorting.length) await this.table.sortBy(sorting);
        }
        this.#waiting = undefined;
    }

    #restorePlots({ plots }: KeptLayout): void {
        if (!Array.isArray(plots)) return;
        const kept = plots.filter((plot): plot is KeptPlot => typeof plot === 'object' && plot !== null);
        const read = kept.map(({ settings }) => readSettings(settings, this.table.fields));
        this.unknown = [...this.unknown, ...read.flatMap(({ unknown }) => unknown)];
        this.plots.replaceAll(read.map(({ settings }) => settings));
        this.plots.list.forEach(({ plot }, at) => {
            const { view, tool, pinned } = kept[at] ?? ({} as Partial<KeptPlot>);
            // ranges of other columns are meaningless
            if (view && !read[at]!.unknown.length) plot.view = readView(view);
            plot.tool = TOOLS.find((one) => one === tool) ?? 'move';
            plot.pinned = pinned === true;
        });
    }

    /** Choose the rows that were chosen, once all rows are there. */
    async restoreSelection(): Promise<void> {
        const [kept, { table }] = [this.#selection, this];
        if (!kept || this.#waiting || table.state.phase === 'loading') return;
        if (!table.chosen && 'steps' in kept && Array.isArray(kept.steps)) {
            this.unknown = [...this.unknown, ...(await repeatSteps(table, kept.steps).catch(ignoreClosed))];
        } else if (!table.chosen && 'rows' in kept && Array.isArray(kept.rows) && this.options.stored) {
            const marks = new Uint8Array(table.rows);
            for (const row of kept.rows.slice(0, MOST_ROWS)) if (row >= 0 && row < marks.length) marks[row] = 1;
            table.chooseRows(marks);
        }
        this.#selection = undefined;
    }

    #toKept(): KeptLayout {
        const { view, table, plots, grid } = this;
        const ids = this.#ids;
        const renamed = (tile: string) => (tile === TABLE ? TABLE : `plot${ids.indexOf(tile) + 1}`);
        const tiles = renameTiles(this.tiles, renamed);
        const usual = renameTiles(this.#usualTiles, renamed);
        const kept = plots.list.map(({ plot }) => this.#keepPlot(plot));
        const isUsual = kept.length === 1 && JSON.stringify(kept[0]) === '{"settings":{}}';
        const columns = grid.arrangement.toKept();
        const selection = this.#selection ?? this.#keepSelection();
        const { sorting, filters } = table;
        const rows = {
            ...keepRows(table.fields, { sorting, filters }),
            ...(selection && { selection }),
        };
        return {
            ...(view && { view }),
            ...(JSON.stringify(tiles) !== JSON.stringify(usual) && { tiles }),
            ...(this.largest && { largest: renamed(this.largest) }),
            ...(!isUsual && { plots: kept }),
            ...(Object.keys(columns).length && { columns }),
            ...rows,
            ...(Object.keys(rows).length && { query: hashOf(this.options.query) }),
        };
    }

    #keepPlot({ settings, view, tool, pinned }: TablePlot): KeptPlot {
        return {
            settings: settings ? keepSettings(settings, this.table.fields) : {},
            ...(view && { view: [view.u0, view.u1, view.v0, view.v1].map((end) => Number(end.toPrecision(9))) }),
            ...(tool !== 'move' && { tool }),
            ...(pinned && { pinned }),
        };
    }

    #keepSelection(): KeptSelection | undefined {
        const { chosen, chosenCount } = this.table;
        if (!chosen) return undefined;
        const steps = findSteps(chosen);
        if (steps) return { steps: steps.map(keepStep) };
        if (!this.options.stored || chosenCount > MOST_ROWS) return undefined;
        const rows: number[] = [];
        for (let row = chosen.indexOf(1); row >= 0; row = chosen.indexOf(1, row + 1)) rows.push(row);
        return { rows };
    }

    /** Return the tiles of a view. */
    shownTiles(view: View, roomy: boolean): Tiles {
        const isPlot = (tile: string) => tile !== TABLE;
        const plots = keepTiles(this.tiles, isPlot);
        if (view === 'table' || plots === undefined) return TABLE;
        if (!roomy) return this.#ids.includes(this.front) ? this.front : listTiles(plots)[0]!;
        if (this.largest && (view === 'both' || isPlot(this.largest))) return this.largest;
        return view === 'plot' ? plots : this.tiles;
    }

    /** Make room for the table where it is not shown. */
    revealTable(view: View, roomy: boolean): void {
        if (view === 'both' && roomy) this.largest = undefined;
        else if (view !== 'table') this.view = 'table';
    }

    /** Add a plot of a kind, where `positions` have room for it. */
    addKind(kind: PlotKind, positions: TilePositions | undefined): void {
        this.#placePlot(this.plots.addKind(kind), positions && findRoom(positions, this.#ids));
    }

    /** Add a plot next to another that shows the same. */
    duplicatePlot(id: string, positions: TilePositions | undefined): void {
        const plot = this.plots.findPlot(id);
        if (plot) this.#placePlot(this.plots.duplicatePlot(plot), positions && findRoom(positions, [id]));
    }

    #placePlot(id: string, room: ReturnType<typeof findRoom>): void {
        const before = this.#ids.find((one) => one !== id) ?? TABLE;
        const { target, side } = room ?? { target: before, side: 'down' };
        [this.tiles, this.largest, this.front] = [addNextTo(this.tiles, target, side, id), undefined, id];
        if (this.view === 'table') this.view = 'plot';
    }

    closePlot(id: string): void {
        if (this.plots.list.length < 2) return;
        this.plots.closePlot(id);
        this.tiles = keepTiles(this.tiles, (tile) => tile !== id) ?? TABLE;
        if (this.largest === id) this.largest = undefined;
    }

    arrange(preset: Preset): void {
        [this.tiles, this.largest] = [arrangeTiles(preset, TABLE, this.#ids), undefined];
    }
}

function ignoreClosed(error: unknown): readonly string[] {
    if (error instanceof TableClosed) return [];
    throw error;
}

function renameTiles(tiles: Tiles, renamed: (tile: string) => string): Tiles {
    if (typeof tiles === 'string') return renamed(tiles);
    const shares = tiles.shares.map((share) => Number(share.toFixed(4)));
    return { ...tiles, parts: tiles.parts.map((part) => renameTiles(part, renamed)), shares };
}

function readView(ends: readonly number[]): TablePlot['view'] {
    if (!Array.isArray(ends) || ends.length !== 4 || !ends.every((end) => Number.isFinite(end))) return undefined;
    const [u0, u1, v0, v1] = ends as [number, number, number, number];
    return u0 === u1 || v0 === v1 ? undefined : { u0, u1, v0, v1 };
}

/** Return a short text that differs for other queries (FNV-1a). */
function hashOf(words: string): string {
    let hash = 0x811c9dc5;
    for (const letter of words.trim()) hash = Math.imul(hash ^ letter.codePointAt(0)!, 0x01000193);
    return (hash >>> 0).toString(36);
}

/** Read a written layout; undefined if it is not a layout. Its content is checked when it is restored. */
function readLayout(written: string): KeptLayout | undefined {
    try {
        const kept: unknown = JSON.parse(written || 'null');
        return typeof kept === 'object' && kept !== null && !Array.isArray(kept) ? kept : undefined;
    } catch {
        return undefined;
    }
}

const layouts = new WeakMap<Table, ResultLayout>();

/** Return the current layout of a table; a new one restores the kept layout. */
export function layoutOf(table: Table, options: LayoutOptions): ResultLayout {
    const known = layouts.get(table);
    if (known) return known;
    const made = new ResultLayout(table, options);
    layouts.set(table, made);
    return made;
}
