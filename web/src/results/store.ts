/** A result's rows in memory: the parts of its columns as they came, and the order in which they are shown. */

import { cell, heldBytes, toNumbers, type Part } from './columns';
import { passing } from './filter';
import type { Cell, Field, Filter, Sort } from './model';
import { sorted } from './sort';

export class Store {
    fields: readonly Field[] = [];
    rows = 0;
    #starts: number[] = [];
    #columns: Part[][] = [];
    /** rows in the order shown; undefined: all, as they came */
    #order: Uint32Array<ArrayBuffer> | undefined;
    #sorting: readonly Sort[] = [];
    #filters: readonly Filter[] = [];

    begin(fields: readonly Field[]): void {
        this.fields = fields;
        this.#columns = fields.map(() => []);
    }

    add(length: number, parts: readonly Part[]): void {
        this.#starts.push(this.rows);
        this.rows += length;
        parts.forEach((part, column) => this.#columns[column]?.push(part));
    }

    get arranged(): boolean {
        return this.#sorting.length + this.#filters.length > 0;
    }

    get shown(): number {
        return this.#order?.length ?? this.rows;
    }

    parts(column: number): readonly Part[] {
        return this.#columns[column] ?? [];
    }

    /** The row at which each part begins. */
    get starts(): readonly number[] {
        return this.#starts;
    }

    /** Take this order and these filters, or those there were again, for all rows that have come. */
    arrange(sorting = this.#sorting, filters = this.#filters): void {
        [this.#sorting, this.#filters] = [sorting, filters];
        this.#order = this.arranged ? sorted(this, sorting, passing(this, filters)) : undefined;
    }

    /** The rows at the places [from, to). */
    rowsAt(from: number, to: number): Uint32Array<ArrayBuffer> {
        const [start, end] = [Math.max(0, from), Math.min(to, this.shown)];
        return this.#order?.slice(start, end) ?? range(start, end);
    }

    /** The batch in which a row is. */
    batchOf(row: number): number {
        let [low, high] = [0, this.#starts.length - 1];
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (this.#starts[middle]! <= row) low = middle;
            else high = middle - 1;
        }
        return low;
    }

    /** The values of some columns of a row; of columns that are not there, NULL. */
    row(row: number, columns: readonly number[]): Cell[] {
        const batch = this.batchOf(row);
        const at = row - this.#starts[batch]!;
        return columns.map((column) => {
            const part = this.#columns[column]?.[batch];
            return part ? cell(part, at) : null;
        });
    }

    /** A column as numbers, one per row, NaN for NULL. */
    numbers(column: number): Float64Array<ArrayBuffer> {
        const numbers = new Float64Array(this.rows);
        this.parts(column).forEach((part, batch) => toNumbers(part, numbers, this.#starts[batch]!));
        return numbers;
    }

    summary(column: number): { min: number; max: number; mean: number; missing: number } {
        let [min, max, sum, finite, missing] = [Infinity, -Infinity, 0, 0, 0];
        for (const value of this.numbers(column)) {
            if (Number.isNaN(value)) missing++;
            if (!Number.isFinite(value)) continue;
            if (value < min) min = value;
            if (value > max) max = value;
            finite++;
            // a running mean: sums of large numbers lose digits
            sum += (value - sum) / finite;
        }
        return finite ? { min, max, mean: sum, missing } : { min: NaN, max: NaN, mean: NaN, missing };
    }

    /** Bytes of all values. */
    get bytes(): number {
        return this.#columns.flat().reduce((sum, part) => sum + heldBytes(part), 0);
    }
}

/** Whole numbers [from, to). */
export function range(from: number, to: number): Uint32Array<ArrayBuffer> {
    const rows = new Uint32Array(Math.max(0, to - from));
    for (let at = 0; at < rows.length; at++) rows[at] = from + at;
    return rows;
}
