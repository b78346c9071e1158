/** The state of a table on the page: position, widths, active cell, fetched cells. */

import { parseCondition } from './typedCondition';
import { sexagesimalOf, formatCell, styleOf, type Style } from './cellFormat';
import { fillTemplate, isWebAddress, readResultLinks } from '../rows/resultLinks';
import { parseXml } from '../tap/tapRequest';
import { TableClosed } from '../rows/workerLink';
import type { Cell, Filter, Table } from '../model/resultModel';
import {
    firstWidth,
    MIN_WIDTH,
    columnsInSight,
    columnStarts,
    measureWith,
    MAX_WIDTH,
    type TextWidth,
} from './columnWidths';
import type { CellPlace } from './cellMoves';
import { GridScroller } from './gridScroller';

/** pixels */
export const ROW_HEIGHT = 26;
/** Rows and columns fetched beyond the visible ones. */
const AROUND = { rows: 60, columns: 4 };
/** Fetch again when fewer rows than this are left. */
const LEAST = 20;
const SAMPLE = 60;
const ANGLE = ['+00:00:00.000'];

interface Fetched {
    readonly from: number;
    readonly first: number;
    /** the column after the last one */
    readonly last: number;
    readonly version: number;
    readonly rows: Uint32Array;
    readonly cells: readonly Cell[][];
    /** columns behind those from `first` to `last`: links need them */
    readonly others: readonly number[];
}

/** A rectangle of cells, both ends included. */
export interface Block {
    readonly from: CellPlace;
    readonly to: CellPlace;
}

export class GridState {
    readonly scroller = new GridScroller(ROW_HEIGHT);
    /** the visible part, in pixels */
    box = $state.raw({ left: 0, width: 0, height: 0 });
    widths = $state.raw<readonly number[]>([]);
    active = $state.raw<CellPlace>({ place: 0, column: 0 });
    /** the other corner of the block; undefined: only the active cell */
    corner = $state.raw<CellPlace | undefined>(undefined);
    /** the active row is open beside the table */
    isRowOpen = $state(false);
    #sexagesimal = $state(false);
    filtering = $state(false);
    /** filter texts above the columns */
    typed = $state.raw<Readonly<Record<number, string>>>({});
    fetched = $state.raw<Fetched | undefined>(undefined);
    /** grows when the scroller moves */
    moves = $state(0);
    #styles = $state.raw<readonly Style[]>([]);
    #asking: Promise<void> | undefined;
    #again = false;
    #measured = 0;
    // eslint-disable-next-line svelte/prefer-svelte-reactivity -- nothing is drawn of it
    readonly #drawn = new Set<number>();

    #textWidth: TextWidth = (text) => text.length * 8;

    constructor(readonly table: Table) {}

    readonly starts = $derived(columnStarts(this.widths));
    readonly columns = $derived(columnsInSight(this.starts, this.box.left, this.box.left + this.box.width));
    readonly places = $derived.by((): [number, number] => {
        void this.moves;
        this.scroller.setSize(this.table.shown, this.box.height);
        return this.scroller.places;
    });
    readonly block = $derived.by((): Block => {
        const [one, other] = [this.active, this.corner ?? this.active];
        const [low, high] = [Math.min(one.place, other.place), Math.max(one.place, other.place)];
        const [left, right] = [Math.min(one.column, other.column), Math.max(one.column, other.column)];
        return { from: { place: Math.max(low, 0), column: left }, to: { place: high, column: right } };
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

    isInBlock(place: number, column: number): boolean {
        if (!this.corner) return false;
        const { from, to } = this.block;
        return place >= from.place && place <= to.place && column >= from.column && column <= to.column;
    }

    /** Measure widths and decimals from the first rows, and again from all over the complete table. */
    async measureColumns(font: string): Promise<void> {
        const { table } = this;
        const stage = !table.fields.length ? 0 : !table.rows ? 1 : table.state.phase === 'loading' ? 2 : 3;
        if (stage <= this.#measured) return;
        this.#measured = stage;
        this.#textWidth = measureWith(font);
        const places = stage === 3 && table.shown > SAMPLE ? [0, 0.25, 0.5, 0.75, 1] : [0];
        const last = Math.max(0, table.shown - SAMPLE);
        try {
            const starts = places.map((part) => Math.floor(part * last));
            const pages = await Promise.all(starts.map((from) => table.readPage(from, from + SAMPLE)));
            this.#fitColumns(pages.flatMap((page) => page.cells));
        } catch (error) {
            if (!(error instanceof TableClosed)) throw error;
        }
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
            if (this.#drawn.has(column)) return known;
            return Math.max(known, firstWidth(field, this.#sampleTexts(cells, column), this.#textWidth));
        });
    }

    #sampleTexts(cells: readonly Cell[][], column: number): string[] {
        return cells.map((row) => formatCell(row[column] ?? null, this.#styles[column] ?? { type: 'plain' }));
    }

    /** Fit a column to its visible values. */
    fitColumn(column: number): void {
        const field = this.table.fields[column];
        const at = this.fetched && column - this.fetched.first;
        if (!field || at === undefined) return;
        const texts = this.fetched?.cells.map((row) => formatCell(row[at] ?? null, this.styleOfColumn(column))) ?? [];
        this.setWidth(column, firstWidth(field, texts, this.#textWidth));
    }

    setWidth(column: number, width: number): void {
        this.#drawn.add(column);
        const fitted = Math.round(Math.min(Math.max(width, MIN_WIDTH), MAX_WIDTH));
        this.widths = this.widths.map((known, at) => (at === column ? fitted : known));
    }

    styleOfColumn(column: number): Style {
        const angle = this.sexagesimal ? sexagesimalOf(this.table.fields[column]!) : undefined;
        return angle ? { type: angle } : (this.#styles[column] ?? { type: 'plain' });
    }

    /** Return a fetched value; undefined if it is not fetched yet. */
    cellAt(place: number, column: number): Cell | undefined {
        const { fetched } = this;
        if (!fetched) return undefined;
        const { first, last, others } = fetched;
        const at = column >= first && column < last ? column - first : last - first + others.indexOf(column);
        return fetched.cells[place - fetched.from]?.[at];
    }

    /** Return the address that a cell leads to: its own, or its column's LINK. */
    addressAt(place: number, column: number): string | undefined {
        const value = this.cellAt(place, column);
        if (isWebAddress(value)) return value;
        const link = value === null ? undefined : this.resultLinks.links.get(column)?.[0];
        return link && fillTemplate(link, (other) => this.cellAt(place, other));
    }

    /** Return the row at a place; -1 if it is not fetched yet. */
    rowAt(place: number): number {
        return this.fetched?.rows[place - this.fetched.from] ?? -1;
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
            const { fields, version } = this.table;
            const from = Math.max(0, this.places[0] - AROUND.rows);
            const first = Math.max(0, this.columns[0] - AROUND.columns);
            const last = Math.min(fields.length, this.columns[1] + AROUND.columns);
            const seen = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at);
            const others = this.#linkColumns.filter((column) => column < first || column >= last);
            try {
                const page = await this.table.readPage(from, this.places[1] + AROUND.rows, [...seen, ...others]);
                this.fetched = { from, first, last, version, others, ...page };
            } catch (error) {
                // the tab was closed meanwhile
                if (error instanceof TableClosed) return;
                throw error;
            }
        }
    }

    /** Whether the visible cells and a margin are fetched and current. */
    #isCovered(): boolean {
        const { fetched, places, columns, table } = this;
        if (fetched?.version !== table.version || fetched.first > columns[0] || fetched.last < columns[1]) return false;
        const [least, most] = [Math.max(0, places[0] - LEAST), Math.min(table.shown, places[1] + LEAST)];
        return fetched.from <= least && fetched.from + fetched.rows.length >= most;
    }

    /** Filter by the typed conditions; unreadable ones filter nothing. */
    filterBy(typed: Readonly<Record<number, string>>): Promise<void> {
        this.typed = typed;
        const conditions = Object.keys(typed).map((key) => this.conditionOf(Number(key)));
        this.scroller.scrollTo(0);
        this.moves++;
        return this.table.filterBy(conditions.filter((found): found is Filter => typeof found === 'object'));
    }

    conditionOf(column: number): Filter | undefined | 'wrong' {
        const field = this.table.fields[column];
        return field && parseCondition(this.typed[column] ?? '', field, column);
    }
}
