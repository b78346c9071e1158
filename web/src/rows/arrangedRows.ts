/** A result's rows in memory, in the order in which they are shown. */

import type { Facet, Filter, Page, Sort } from '../model/resultModel';
import { ComputedRows } from './computedRows';
import { FacetCounter } from './facetCounts';
import { filterRows, rowRange } from './rowFilter';
import { sortRows } from './rowSort';

export class ArrangedRows extends ComputedRows {
    /** undefined: all rows, as they arrived */
    #order: Uint32Array<ArrayBuffer> | undefined;
    #sorting: readonly Sort[] = [];
    #filters: readonly Filter[] = [];
    readonly #facets = new FacetCounter(this);

    get isArranged(): boolean {
        return this.#sorting.length + this.#filters.length > 0;
    }

    get shown(): number {
        return this.#order?.length ?? this.rows;
    }

    /** Sort and filter all rows that have arrived; by default as before. */
    arrangeRows(sorting = this.#sorting, filters = this.#filters): void {
        [this.#sorting, this.#filters] = [sorting, filters];
        this.#order = this.isArranged ? sortRows(this, sorting, filterRows(this, filters)) : undefined;
    }

    /** Count the values of columns among the rows that pass the filters of the others. */
    countFacets(columns: readonly number[]): Facet[] {
        return this.#facets.countFacets(columns, this.#filters);
    }

    /** Read the rows at the indexes [from, to) as they are shown; by default all columns. */
    readPage(from: number, to: number, columns: readonly number[] = [...this.fields.keys()]): Page {
        const rows = this.rowsAt(from, to);
        return { rows, cells: Array.from(rows, (row) => this.readRow(row, columns)) };
    }

    /** The rows at the indexes [from, to). */
    rowsAt(from: number, to: number): Uint32Array<ArrayBuffer> {
        const [start, end] = [Math.max(0, from), Math.min(to, this.shown)];
        return this.#order?.slice(start, end) ?? rowRange(start, end);
    }
}
