/** Filters of a result's rows. */

import { floatRange, isBitSet, isNull, readCell, textReader, type ColumnPart } from '../model/columnParts';
import { parseMicros } from '../model/instants';
import type { Filter } from '../model/resultModel';
import type { ColumnStore } from '../model/columnStore';

/** Return the rows that pass all filters, in order of arrival. NULL and NaN pass no range and no text. */
export function filterRows(store: ColumnStore, filters: readonly Filter[]): Uint32Array<ArrayBuffer> {
    if (!filters.length) return rowRange(0, store.rows);
    const marks = new Uint8Array(store.rows).fill(1);
    for (const filter of filters) unmarkFailing(store, filter, marks);
    return markedRows(marks);
}

/** Set the marks of rows that do not pass a filter to 0. */
export function unmarkFailing(store: ColumnStore, filter: Filter, marks: Uint8Array): void {
    if ('contains' in filter) unmarkWithoutText(store, filter.column, filter.contains, marks);
    else if ('oneOf' in filter) unmarkByValue(store, filter.column, filter.oneOf, true, marks);
    else if ('noneOf' in filter) unmarkByValue(store, filter.column, filter.noneOf, false, marks);
    else if ('rows' in filter) for (let row = 0; row < marks.length; row++) marks[row]! &= filter.rows[row] ?? 0;
    else unmarkOutside(store, filter.column, filter.min ?? -Infinity, filter.max ?? Infinity, marks);
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

function unmarkByValue(
    store: ColumnStore,
    column: number,
    values: readonly (string | null)[],
    wanted: boolean,
    marks: Uint8Array,
): void {
    const texts = values.filter((value) => value !== null);
    const withNull = values.includes(null);
    store.partsOf(column).forEach((part, batch) => {
        const start = store.starts[batch]!;
        const isOneOf = valueTest(part, texts);
        for (let at = 0; at < part.length; at++)
            if ((isMissing(part, at) ? withNull : isOneOf(at)) !== wanted) marks[start + at] = 0;
    });
}

/** NULL or NaN. */
const isMissing = (part: ColumnPart, at: number): boolean =>
    isNull(part, at) || (part.type === 'number' && Number.isNaN(part.values[at]));

/** Return whether a row's value, as text, is one of these. */
function valueTest(part: ColumnPart, texts: readonly string[]): (at: number) => boolean {
    if (part.type === 'boolean') {
        const words = new Set(texts);
        return (at) => words.has(String(isBitSet(part.bits, at)));
    }
    if (part.type === 'time') {
        const micros = new Set(texts.map((value) => parseMicros(value)));
        return (at) => micros.has(part.micros[at]!);
    }
    if (part.type === 'number') {
        const { values } = part;
        const isLong = values instanceof BigInt64Array || values instanceof BigUint64Array;
        const isFloat = values instanceof Float32Array;
        const wanted = new Set<number | bigint | undefined>(
            texts.map((word) => (isLong ? readInteger(word) : isFloat ? Math.fround(Number(word)) : Number(word))),
        );
        return (at) => wanted.has(values[at]!);
    }
    const wanted = new Set(texts);
    if (part.type === 'list') return (at) => wanted.has(String(readCell(part, at)));
    const text = textReader(part);
    return (at) => wanted.has(text(at));
}

/** Values come from links, which anybody can write. */
const readInteger = (word: string): bigint | undefined => (/^-?\d+$/.test(word) ? BigInt(word) : undefined);

/** Return the integers [from, to). */
export function rowRange(from: number, to: number): Uint32Array<ArrayBuffer> {
    const rows = new Uint32Array(Math.max(0, to - from));
    for (let at = 0; at < rows.length; at++) rows[at] = from + at;
    return rows;
}
