/** The filters of a table as texts above its columns, which are typed there or come from facets and plots. */

import type { Filter, Table } from '../model/resultModel';
import { describeFilter, parseCondition } from './typedCondition';

export class TypedFilters {
    /** texts as they were typed, by column */
    #typed = $state.raw<Readonly<Record<number, string>>>({});
    /** a text was typed, and the table is not yet filtered by it */
    #isTyping = $state(false);
    readonly #table: Table;
    readonly #onChange: () => void;

    /** `onChange` is called before the table is filtered. */
    constructor(table: Table, onChange: () => void) {
        [this.#table, this.#onChange] = [table, onChange];
    }

    /** Take a condition as it is typed; `applyTyped` filters by it. */
    typeCondition(column: number, words: string): void {
        [this.#typed, this.#isTyping] = [{ ...this.#typed, [column]: words }, true];
    }

    /** Filter by what was typed; unreadable conditions filter nothing. */
    applyTyped(): Promise<void> {
        const typed = Object.keys(this.#typed).map(Number);
        this.#isTyping = false;
        const others = this.#table.filters.filter(({ column }) => !typed.includes(column));
        const conditions = typed.map((column) => this.readCondition(column));
        const read = conditions.filter((found): found is Filter => typeof found === 'object');
        this.#typed = Object.fromEntries(Object.entries(this.#typed).filter(([, words]) => words));
        return this.#filterBy([...others, ...read]);
    }

    /** Replace the conditions of a column; undefined: none. */
    filterColumn(column: number, filter: Filter | undefined): Promise<void> {
        this.#typed = Object.fromEntries(Object.entries(this.#typed).filter(([typed]) => Number(typed) !== column));
        const others = this.#table.filters.filter((other) => other.column !== column);
        return this.#filterBy(filter ? [...others, filter] : others);
    }

    /** Show all rows again. */
    clear(): Promise<void> {
        this.#typed = {};
        return this.#filterBy([]);
    }

    #filterBy(filters: readonly Filter[]): Promise<void> {
        this.#onChange();
        return this.#table.filterBy(filters);
    }

    /** Return the text above a column: as it was typed, or what describes its filter. */
    conditionText(column: number): string {
        const field = this.#table.fields[column];
        const own = this.#table.filters.filter((filter) => filter.column === column);
        const typed = this.#typed[column];
        if (typed !== undefined) {
            const found = this.readCondition(column);
            const isCurrent = own.some((filter) => JSON.stringify(filter) === JSON.stringify(found));
            if (this.#isTyping || found === 'wrong' || isCurrent) return typed;
        }
        return field && own[0] ? describeFilter(own[0], field) : '';
    }

    /** Return the condition that was typed; 'wrong' if it cannot be read. */
    readCondition(column: number): Filter | undefined | 'wrong' {
        const field = this.#table.fields[column];
        return field && parseCondition(this.#typed[column] ?? '', field, column);
    }

    /** Keep the texts with their columns; `indexes` has the old index of each column, -1 for a new one. */
    followColumns(indexes: readonly number[]): void {
        const kept = indexes.map((old, column) => [column, this.#typed[old]] as const);
        this.#typed = Object.fromEntries(kept.filter((entry): entry is [number, string] => entry[1] !== undefined));
    }
}
