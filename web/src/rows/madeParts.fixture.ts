/** Parts of columns for unit tests. */

import type { ColumnPart } from '../model/columnParts';

export function bits(marks: readonly boolean[]): Uint8Array<ArrayBuffer> {
    const found = new Uint8Array(Math.ceil(marks.length / 8));
    marks.forEach((mark, at) => (found[at >> 3]! |= Number(mark) << (at & 7)));
    return found;
}

export const numbers = (values: readonly (number | null)[]): ColumnPart => ({
    type: 'number',
    length: values.length,
    valid: bits(values.map((value) => value !== null)),
    values: Float64Array.from(values, (value) => value ?? 0),
});

export const longs = (values: readonly bigint[]): ColumnPart => ({
    type: 'number',
    length: values.length,
    values: BigInt64Array.from(values),
});

export function texts(values: readonly (string | null)[]): ColumnPart {
    const pieces = values.map((value) => new TextEncoder().encode(value ?? ''));
    const offsets = new Int32Array(values.length + 1);
    pieces.forEach((piece, at) => (offsets[at + 1] = offsets[at]! + piece.length));
    const bytes = Uint8Array.from(pieces.flatMap((piece) => [...piece]));
    return { type: 'text', length: values.length, valid: bits(values.map((value) => value !== null)), offsets, bytes };
}
