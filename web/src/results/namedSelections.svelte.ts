/** Choices of rows that the user keeps under names, and their combination with the current choice. */

import type { Filter, Table } from '../model/resultModel';

export interface NamedSelection {
    readonly name: string;
    /** one byte per row */
    readonly rows: Uint8Array;
    readonly count: number;
}

/** replace: choose these instead; add: the union; common: the intersection; without: the current choice without these */
export type Combination = 'replace' | 'add' | 'common' | 'without';

const COMBINED: Readonly<Record<Combination, (now: number, other: number) => number>> = {
    replace: (_, other) => other,
    add: (now, other) => now | other,
    common: (now, other) => now & other,
    without: (now, other) => now & (1 - other),
};

export class NamedSelections {
    list = $state.raw<readonly NamedSelection[]>([]);

    constructor(readonly table: Table) {}

    /** Keep the current choice under a name; one of the same name is replaced. */
    keep(name: string): void {
        const { chosen, chosenCount } = this.table;
        if (!chosen) return;
        const kept = { name, rows: chosen.slice(), count: chosenCount };
        const others = this.list.filter((other) => other.name !== name);
        this.list = [...others, kept];
    }

    remove(name: string): void {
        this.list = this.list.filter((other) => other.name !== name);
    }

    /** Combine the current choice with a selection. */
    combine({ rows }: NamedSelection, how: Combination): void {
        const { table } = this;
        const marks = new Uint8Array(table.rows);
        for (let row = 0; row < marks.length; row++)
            marks[row] = COMBINED[how](table.chosen?.[row] ?? 0, rows[row] ?? 0);
        table.chooseRows(marks);
    }

    /** Choose the shown rows that are not chosen. */
    async invert(): Promise<void> {
        const { table } = this;
        const marks = new Uint8Array(table.rows);
        for (const row of await table.readOrder()) marks[row] = table.chosen?.[row] ? 0 : 1;
        table.chooseRows(marks);
    }

    /** Show only the rows of a selection, or all again. */
    async toggleFilter(selection: NamedSelection): Promise<void> {
        const { filters } = this.table;
        const others = filters.filter((filter) => !isOfSelection(filter, selection));
        const own: Filter = { column: -1, rows: selection.rows, title: selection.name };
        await this.table.filterBy(others.length < filters.length ? others : [...filters, own]);
    }

    isFilter(selection: NamedSelection): boolean {
        return this.table.filters.some((filter) => isOfSelection(filter, selection));
    }
}

const isOfSelection = (filter: Filter, { rows }: NamedSelection): boolean => 'rows' in filter && filter.rows === rows;

const known = new WeakMap<Table, NamedSelections>();

/** Return the selections of a table, as long as it is open. */
export function selectionsOf(table: Table): NamedSelections {
    const found = known.get(table) ?? new NamedSelections(table);
    known.set(table, found);
    return found;
}
