/** The columns of a result in memory: batches of rows as they arrived. */

import { readCell, countBytes, writeNumbers, type ColumnPart } from './columnParts';
import type { Cell, Field } from './resultModel';

export class ColumnStore {
    fields: readonly Field[] = [];
    rows = 0;
    #starts: number[] = [];
    #columns: ColumnPart[][] = [];

    setFields(fields: readonly Field[]): void {
        this.fields = fields;
        this.#columns = fields.map(() => []);
    }

    addBatch(length: number, parts: readonly ColumnPart[]): void {
        this.#starts.push(this.rows);
        this.rows += length;
        parts.forEach((part, column) => this.#columns[column]?.push(part));
    }

    /** Add a column whose parts are as long as the batches. */
    protected addColumn(field: Field, parts: readonly ColumnPart[]): void {
        this.fields = [...this.fields, field];
        this.#columns.push([...parts]);
    }

    /** Drop the columns from `first` on. */
    protected dropColumns(first: number): void {
        this.fields = this.fields.slice(0, first);
        this.#columns.length = this.fields.length;
    }

    partsOf(column: number): readonly ColumnPart[] {
        return this.#columns[column] ?? [];
    }

    /** The first row of each batch. */
    get starts(): readonly number[] {
        return this.#starts;
    }

    /** The batch that holds a row. */
    findBatch(row: number): number {
        let [low, high] = [0, this.#starts.length - 1];
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (this.#starts[middle]! <= row) low = middle;
            else high = middle - 1;
        }
        return low;
    }

    /** Some values of a row; NULL for a column that does not exist. */
    readRow(row: number, columns: readonly number[]): Cell[] {
        const batch = this.findBatch(row);
        const at = row - this.#starts[batch]!;
        return columns.map((column) => {
            const part = this.#columns[column]?.[batch];
            return part ? readCell(part, at) : null;
        });
    }

    /** A column as numbers, one per row, NaN for NULL. */
    readNumbers(column: number): Float64Array<ArrayBuffer> {
        const numbers = new Float64Array(this.rows);
        this.partsOf(column).forEach((part, batch) => writeNumbers(part, numbers, this.#starts[batch]!));
        return numbers;
    }

    summarizeColumn(column: number): { min: number; max: number; mean: number; missing: number } {
        let [min, max, mean, finite, missing] = [Infinity, -Infinity, 0, 0, 0];
        for (const value of this.readNumbers(column)) {
            if (Number.isNaN(value)) missing++;
            if (!Number.isFinite(value)) continue;
            if (value < min) min = value;
            if (value > max) max = value;
            finite++;
            // a running mean: sums of large numbers lose digits
            mean += (value - mean) / finite;
        }
        return finite ? { min, max, mean, missing } : { min: NaN, max: NaN, mean: NaN, missing };
    }

    /** Bytes of all values. */
    get bytes(): number {
        return this.#columns.flat().reduce((sum, part) => sum + countBytes(part), 0);
    }
}
