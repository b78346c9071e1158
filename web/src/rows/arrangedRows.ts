/** A result's rows in memory, in the order in which they are shown. */

import { ColumnStore } from '../model/columnStore';
import type { Filter, Sort } from '../model/resultModel';
import { filterRows, rowRange } from './rowFilter';
import { sortRows } from './rowSort';

export class ArrangedRows extends ColumnStore {
    /** undefined: all rows, as they arrived */
    #order: Uint32Array<ArrayBuffer> | undefined;
    #sorting: readonly Sort[] = [];
    #filters: readonly Filter[] = [];

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

    /** The rows at the places [from, to). */
    rowsAt(from: number, to: number): Uint32Array<ArrayBuffer> {
        const [start, end] = [Math.max(0, from), Math.min(to, this.shown)];
        return this.#order?.slice(start, end) ?? rowRange(start, end);
    }
}
