/** Columns in memory as batches of typed arrays, from which values are read when needed. */

import { nextFloat } from './adjacentFloats';
import type { Cell } from './resultModel';
import { formatMicros, MICROS_PER_DAY, UNIX_EPOCH_MJD } from './instants';

export type Numbers =
    | Int8Array<ArrayBuffer>
    | Uint8Array<ArrayBuffer>
    | Int16Array<ArrayBuffer>
    | Uint16Array<ArrayBuffer>
    | Int32Array<ArrayBuffer>
    | Uint32Array<ArrayBuffer>
    | BigInt64Array<ArrayBuffer>
    | BigUint64Array<ArrayBuffer>
    | Float32Array<ArrayBuffer>
    | Float64Array<ArrayBuffer>;

export type Bytes = Uint8Array<ArrayBuffer>;

type Values =
    | { readonly type: 'number'; readonly values: Numbers }
    | { readonly type: 'boolean'; readonly bits: Bytes }
    /** microseconds since 1970, UTC */
    | { readonly type: 'time'; readonly micros: BigInt64Array<ArrayBuffer> }
    | { readonly type: 'text'; readonly offsets: Int32Array<ArrayBuffer>; readonly bytes: Bytes }
    | { readonly type: 'list'; readonly offsets: Int32Array<ArrayBuffer>; readonly items: ColumnPart };

/** Consecutive rows of a column in Arrow's layout. `valid` has a bit per row, 0 for NULL; undefined: no NULL. */
export type ColumnPart = Values & { readonly length: number; readonly valid?: Bytes | undefined };

const UTF8 = new TextDecoder();

export const isBitSet = (bits: Bytes, at: number): boolean => ((bits[at >> 3]! >> (at & 7)) & 1) === 1;

export const isNull = (part: ColumnPart, at: number): boolean => part.valid !== undefined && !isBitSet(part.valid, at);

/** Return a value as the page shows it; arrays as in DALI, separated by blanks. */
export function readCell(part: ColumnPart, at: number): Cell {
    if (isNull(part, at)) return null;
    switch (part.type) {
        case 'number':
            return part.values instanceof Float32Array ? shortestFloat(part.values[at]!) : part.values[at]!;
        case 'boolean':
            return isBitSet(part.bits, at);
        case 'time':
            return formatMicros(part.micros[at]!);
        case 'text':
            return UTF8.decode(part.bytes.subarray(part.offsets[at], part.offsets[at + 1]));
        case 'list':
            return listText(part.items, part.offsets[at]!, part.offsets[at + 1]!);
    }
}

/** Return the shortest number that rounds to this float: 1.18, not 1.1799999475479126. */
export function shortestFloat(value: number): number {
    for (let digits = 6; digits < 9; digits++) {
        const short = Number(value.toPrecision(digits));
        if (Math.fround(short) === value) return short;
    }
    return value;
}

/**
 * Return the ends of the floats whose shortest digits lie within [min, max]: a filter on a column of floats means the
 * values as they are shown, 1.115 and not 1.1150000095367432.
 */
export function floatRange(min: number, max: number): [min: number, max: number] {
    const [low, high] = [Math.fround(min), Math.fround(max)];
    return [shortestFloat(low) < min ? nextFloat(low, 1) : low, shortestFloat(high) > max ? nextFloat(high, -1) : high];
}

function listText(items: ColumnPart, from: number, to: number): string {
    const words: string[] = [];
    for (let at = from; at < to; at++)
        words.push(String(readCell(items, at) ?? (items.type === 'number' ? 'NaN' : '')));
    return words.join(' ');
}

/** Write the part's values as numbers to `into` from `start` on, NaN for NULL and non-numbers. */
export function writeNumbers(part: ColumnPart, into: Float64Array, start: number): void {
    if (part.type === 'number' && part.values instanceof Float64Array) into.set(part.values, start);
    else if (part.type === 'number')
        for (let at = 0; at < part.length; at++) into[start + at] = Number(part.values[at]);
    else if (part.type === 'boolean')
        for (let at = 0; at < part.length; at++) into[start + at] = +isBitSet(part.bits, at);
    else if (part.type === 'time')
        for (let at = 0; at < part.length; at++) into[start + at] = microsToMjd(part.micros[at]!);
    else into.fill(NaN, start, start + part.length);
    if (!part.valid) return;
    for (let at = 0; at < part.length; at++) if (!isBitSet(part.valid, at)) into[start + at] = NaN;
}

const microsToMjd = (micros: bigint): number => Number(micros) / MICROS_PER_DAY + UNIX_EPOCH_MJD;

/** Return a function from row to text, '' for NULL. Faster than single values if all rows are read. */
export function textReader(part: ColumnPart): (at: number) => string {
    if (part.type !== 'text') return (at) => String(readCell(part, at) ?? '');
    const first = part.offsets[0] ?? 0;
    const all = UTF8.decode(part.bytes.subarray(first, part.offsets[part.length]));
    // one byte per character: slice one string
    if (all.length === part.offsets[part.length]! - first)
        return (at) => all.slice(part.offsets[at]! - first, part.offsets[at + 1]! - first);
    return (at) => UTF8.decode(part.bytes.subarray(part.offsets[at], part.offsets[at + 1]));
}

/** Return the bytes that a part occupies. */
export function countBytes(part: ColumnPart): number {
    const valid = part.valid?.byteLength ?? 0;
    switch (part.type) {
        case 'number':
            return valid + part.values.byteLength;
        case 'boolean':
            return valid + part.bits.byteLength;
        case 'time':
            return valid + part.micros.byteLength;
        case 'text':
            return valid + part.offsets.byteLength + part.bytes.byteLength;
        case 'list':
            return valid + part.offsets.byteLength + countBytes(part.items);
    }
}
