/** Filters of a result's rows. */

import { floatRange, isNull, textReader } from '../model/columnParts';
import type { Filter } from '../model/resultModel';
import type { ColumnStore } from '../model/columnStore';

/** Return the rows that pass all filters, in order of arrival. NULL and NaN pass none. */
export function filterRows(store: ColumnStore, filters: readonly Filter[]): Uint32Array<ArrayBuffer> {
    if (!filters.length) return rowRange(0, store.rows);
    const marks = new Uint8Array(store.rows).fill(1);
    for (const filter of filters) {
        if ('contains' in filter) unmarkWithoutText(store, filter.column, filter.contains, marks);
        else unmarkOutside(store, filter.column, filter.min ?? -Infinity, filter.max ?? Infinity, marks);
    }
    return markedRows(marks);
}

/** Return the indices of the marks that are not 0. */
export function markedRows(marks: Uint8Array): Uint32Array<ArrayBuffer> {
    const rows = new Uint32Array(marks.length);
    let found = 0;
    for (let row = 0; row < marks.length; row++) if (marks[row]) rows[found++] = row;
    return rows.slice(0, found);
}

function unmarkOutside(store: ColumnStore, column: number, min: number, max: number, marks: Uint8Array): void {
    const [first, values] = [store.partsOf(column)[0], store.readNumbers(column)];
    const isFloat = first?.type === 'number' && first.values instanceof Float32Array;
    const [low, high] = isFloat ? floatRange(min, max) : [min, max];
    for (let row = 0; row < values.length; row++) if (!(values[row]! >= low && values[row]! <= high)) marks[row] = 0;
}

/** Case is ignored. */
function unmarkWithoutText(store: ColumnStore, column: number, piece: string, marks: Uint8Array): void {
    const wanted = piece.toLowerCase();
    store.partsOf(column).forEach((part, batch) => {
        const start = store.starts[batch]!;
        const text = textReader(part);
        for (let at = 0; at < part.length; at++)
            if (marks[start + at] && (isNull(part, at) || !text(at).toLowerCase().includes(wanted)))
                marks[start + at] = 0;
    });
}

/** Return the integers [from, to). */
export function rowRange(from: number, to: number): Uint32Array<ArrayBuffer> {
    const rows = new Uint32Array(Math.max(0, to - from));
    for (let at = 0; at < rows.length; at++) rows[at] = from + at;
    return rows;
}
