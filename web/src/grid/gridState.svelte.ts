/** The state of a table on the page: position, widths, active cell, fetched cells. */

import { ColumnArrangement } from './columnArrangement.svelte';
import { TypedFilters } from './typedFilters.svelte';
import { sexagesimalOf, formatCell, styleOf, type Style } from './cellFormat';
import { fillTemplate, isWebAddress, readResultLinks } from '../rows/resultLinks';
import { parseXml } from '../tap/tapRequest';
import { TableClosed } from '../rows/workerLink';
import { oldIndexes } from '../model/columnMoves';
import type { Cell, Field, Table } from '../model/resultModel';
import {
    firstWidth,
    MIN_WIDTH,
    columnsInSight,
    columnStarts,
    measureWith,
    MAX_WIDTH,
    type TextWidth,
} from './columnWidths';
import type { CellPosition } from './cellMoves';
import { GridScroller } from './gridScroller';

/** pixels */
export const ROW_HEIGHT = 26;
/** Rows and columns fetched beyond the visible ones. */
const AROUND = { rows: 60, columns: 4 };
/** Fetch again when fewer rows than this are left. */
const LEAST = 20;
const SAMPLE = 60;
/** Most of the width that pinned columns take. */
const PINNED_PART = 0.6;
const ANGLE = ['+00:00:00.000'];

interface Fetched {
    readonly from: number;
    readonly version: number;
    readonly rows: Uint32Array;
    readonly cells: readonly Cell[][];
    /** index of each fetched column in `cells` */
    readonly at: Readonly<Record<number, number>>;
}

/** A rectangle of cells, both ends included. */
export interface Block {
    readonly from: CellPosition;
    readonly to: CellPosition;
}

export class GridState {
    readonly scroller = new GridScroller(ROW_HEIGHT);
    /** the visible part, in pixels */
    box = $state.raw({ left: 0, width: 0, height: 0 });
    /** widths of the table's columns, in pixels */
    widths = $state.raw<readonly number[]>([]);
    active = $state.raw<CellPosition>({ index: 0, slot: 0 });
    /** the other corner of the block; undefined: only the active cell */
    corner = $state.raw<CellPosition | undefined>(undefined);
    /** the column whose menu is open; -1: none */
    menuColumn = $state(-1);
    /** the computed column that is being edited; '': a new one; undefined: none */
    editedColumn = $state<string | undefined>();
    /** the counts of values stand next to the table */
    isFaceted = $state(false);
    /** the active row is open next to the table */
    isRowOpen = $state(false);
    #sexagesimal = $state(false);
    filtering = $state(false);
    fetched = $state.raw<Fetched | undefined>(undefined);
    /** grows when the scroller moves */
    moves = $state(0);
    #styles = $state.raw<readonly Style[]>([]);
    #asking: Promise<void> | undefined;
    #again = false;
    #measured = 0;
    /** the columns that widths and texts belong to */
    #known: readonly Field[] = [];
    /** whether the user set the width of a column */
    #drawn: readonly boolean[] = [];
    readonly arrangement: ColumnArrangement;
    readonly filters: TypedFilters;

    #textWidth: TextWidth = (text) => text.length * 8;

    constructor(readonly table: Table) {
        this.arrangement = new ColumnArrangement(table);
        this.filters = new TypedFilters(table, () => this.#goToTop());
    }

    /** Start of each slot: the shown columns from the left. */
    readonly starts = $derived.by(() =>
        columnStarts(this.arrangement.shown.map((column) => this.widths[column] ?? MIN_WIDTH)),
    );
    /** Number of slots pinned to the left; 0 if they would leave no room for the others. */
    readonly pinned: number = $derived.by(() => {
        const count = this.arrangement.pinnedCount;
        return (this.starts[count] ?? 0) <= PINNED_PART * this.box.width ? count : 0;
    });
    /** The visible slots [from, to) next to the pinned ones. */
    readonly slots: [number, number] = $derived.by(() => {
        const left = this.box.left + (this.starts[this.pinned] ?? 0);
        const [from, to] = columnsInSight(this.starts, left, Math.max(left + 1, this.box.left + this.box.width));
        return [Math.max(from, this.pinned), Math.max(to, this.pinned)];
    });
    readonly indexes = $derived.by((): [number, number] => {
        void this.moves;
        this.scroller.setSize(this.table.shown, this.box.height);
        return this.scroller.indexes;
    });
    readonly block = $derived.by((): Block => {
        const [one, other] = [this.active, this.corner ?? this.active];
        const [low, high] = [Math.min(one.index, other.index), Math.max(one.index, other.index)];
        const [left, right] = [Math.min(one.slot, other.slot), Math.max(one.slot, other.slot)];
        return { from: { index: Math.max(low, 0), slot: left }, to: { index: high, slot: right } };
    });
    readonly resultLinks = $derived.by(() => readResultLinks(parseXml(this.table.about || '<VOTABLE/>')));
    readonly #linkColumns = $derived(
        [...this.resultLinks.links.values()].flatMap((links) => [...(links[0]?.columns.values() ?? [])]),
    );
    readonly hasAngles = $derived.by(() => this.table.fields.some((field) => sexagesimalOf(field)));

    get sexagesimal(): boolean {
        return this.#sexagesimal;
    }

    /** Show sexagesimal angles and widen their columns. */
    set sexagesimal(wanted: boolean) {
        this.#sexagesimal = wanted;
        if (wanted)
            this.widths = this.widths.map((width, column) => {
                const field = this.table.fields[column];
                return field && sexagesimalOf(field)
                    ? Math.max(width, firstWidth(field, ANGLE, this.#textWidth))
                    : width;
            });
    }

    /** Return the column in a slot; -1 if there is none. */
    columnAt(slot: number): number {
        return this.arrangement.shown[slot] ?? -1;
    }

    isInBlock(index: number, slot: number): boolean {
        if (!this.corner) return false;
        const { from, to } = this.block;
        return index >= from.index && index <= to.index && slot >= from.slot && slot <= to.slot;
    }

    /** Measure widths and decimals from the first rows, and again from all over the complete table. */
    async measureColumns(font: string): Promise<void> {
        const { table } = this;
        if (this.#known !== table.fields) this.#followColumns();
        const stage = !table.fields.length ? 0 : !table.rows ? 1 : table.state.phase === 'loading' ? 2 : 3;
        if (stage <= this.#measured) return;
        this.#measured = stage;
        this.#textWidth = measureWith(font);
        const indexes = stage === 3 && table.shown > SAMPLE ? [0, 0.25, 0.5, 0.75, 1] : [0];
        const last = Math.max(0, table.shown - SAMPLE);
        try {
            const starts = indexes.map((part) => Math.floor(part * last));
            const pages = await Promise.all(starts.map((from) => table.readPage(from, from + SAMPLE)));
            this.#fitColumns(pages.flatMap((page) => page.cells));
        } catch (error) {
            if (!(error instanceof TableClosed)) throw error;
        }
    }

    /** Keep widths and texts with their columns, of which some were added or removed. */
    #followColumns(): void {
        const indexes = oldIndexes(this.#known, this.table.fields);
        this.widths = indexes.map((old) => this.widths[old] ?? 0);
        this.#drawn = indexes.map((old) => this.#drawn[old] ?? false);
        this.filters.followColumns(indexes);
        [this.#known, this.#measured] = [this.table.fields, 0];
    }

    /** Columns only get wider; widths that the user set stay. */
    #fitColumns(cells: readonly Cell[][]): void {
        const { fields } = this.table;
        this.#styles = fields.map((field, column) =>
            styleOf(
                field,
                cells.map((row) => row[column] ?? null),
            ),
        );
        this.widths = fields.map((field, column) => {
            const known = this.widths[column] ?? 0;
            if (this.#drawn[column]) return known;
            return Math.max(known, firstWidth(field, this.#sampleTexts(cells, column), this.#textWidth));
        });
    }

    #sampleTexts(cells: readonly Cell[][], column: number): string[] {
        return cells.map((row) => formatCell(row[column] ?? null, this.#styles[column] ?? { type: 'plain' }));
    }

    /** Fit a column to its visible values. */
    fitColumn(column: number): void {
        const field = this.table.fields[column];
        const at = this.fetched?.at[column];
        if (!field || at === undefined) return;
        const texts = this.fetched?.cells.map((row) => formatCell(row[at] ?? null, this.styleOfColumn(column))) ?? [];
        this.setWidth(column, firstWidth(field, texts, this.#textWidth));
    }

    setWidth(column: number, width: number): void {
        this.#drawn = this.table.fields.map((_, at) => at === column || this.#drawn[at] === true);
        const fitted = Math.round(Math.min(Math.max(width, MIN_WIDTH), MAX_WIDTH));
        this.widths = this.widths.map((known, at) => (at === column ? fitted : known));
    }

    styleOfColumn(column: number): Style {
        const angle = this.sexagesimal ? sexagesimalOf(this.table.fields[column]!) : undefined;
        return angle ? { type: angle } : (this.#styles[column] ?? { type: 'plain' });
    }

    /** Return a fetched value; undefined if it is not fetched yet. */
    cellAt(index: number, column: number): Cell | undefined {
        const at = this.fetched?.at[column];
        return at === undefined ? undefined : this.fetched!.cells[index - this.fetched!.from]?.[at];
    }

    /** Return the address that a cell leads to: its own, or its column's LINK. */
    addressAt(index: number, column: number): string | undefined {
        const value = this.cellAt(index, column);
        if (isWebAddress(value)) return value;
        const link = value === null ? undefined : this.resultLinks.links.get(column)?.[0];
        return link && fillTemplate(link, (other) => this.cellAt(index, other));
    }

    /** Return the row at an index; -1 if it is not fetched yet. */
    rowAt(index: number): number {
        return this.fetched?.rows[index - this.fetched.from] ?? -1;
    }

    /** Fetch the visible cells; calls during a fetch continue with what is visible then. */
    fetchSeen(): Promise<void> {
        this.#again = true;
        this.#asking ??= this.#fetchUntilCovered().finally(() => (this.#asking = undefined));
        return this.#asking;
    }

    async #fetchUntilCovered(): Promise<void> {
        while (this.#again) {
            this.#again = false;
            if (this.#isCovered()) continue;
            const { version } = this.table;
            const from = Math.max(0, this.indexes[0] - AROUND.rows);
            const around = this.#columnsAround(AROUND.columns);
            const columns = [...around, ...this.#linkColumns.filter((column) => !around.includes(column))];
            try {
                const page = await this.table.readPage(from, this.indexes[1] + AROUND.rows, columns);
                this.fetched = {
                    from,
                    version,
                    at: Object.fromEntries(columns.map((column, at) => [column, at])),
                    ...page,
                };
            } catch (error) {
                // the tab was closed meanwhile
                if (error instanceof TableClosed) return;
                throw error;
            }
        }
    }

    /** The visible columns, and as many as `margin` on both sides. */
    #columnsAround(margin: number): number[] {
        const { shown } = this.arrangement;
        const [from, to] = this.slots;
        return [...shown.slice(0, this.pinned), ...shown.slice(Math.max(this.pinned, from - margin), to + margin)];
    }

    /** Whether the visible cells and a margin are fetched and current. */
    #isCovered(): boolean {
        const { fetched, indexes, table } = this;
        if (fetched?.version !== table.version) return false;
        if (this.#columnsAround(0).some((column) => fetched.at[column] === undefined)) return false;
        const [least, most] = [Math.max(0, indexes[0] - LEAST), Math.min(table.shown, indexes[1] + LEAST)];
        return fetched.from <= least && fetched.from + fetched.rows.length >= most;
    }

    #goToTop(): void {
        this.scroller.scrollTo(0);
        this.moves++;
    }
}
