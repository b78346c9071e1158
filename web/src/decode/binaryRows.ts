/**
 * Decodes rows of VOTable BINARY and BINARY2 into columns: first finds every cell, then reads each column in a loop
 * over one type.
 */

import type { Bytes, Numbers, ColumnPart } from '../model/columnParts';
import type { Field } from '../model/resultModel';
import { parseMicros } from '../model/instants';
import { Unreadable } from './decodedPiece';

type CellOffsets = Uint32Array<ArrayBuffer>;

/** The bytes of whole rows. */
interface Rows {
    readonly bytes: Bytes;
    readonly view: DataView;
    readonly length: number;
    /** start of each row */
    readonly starts: CellOffsets;
    /** rows begin with NULL flags (BINARY2); in BINARY, values stand for NULL */
    readonly flags: boolean;
}

type Loop<A> = (view: DataView, cellOffsets: CellOffsets, into: A) => void;

interface Scalar<A extends Numbers = Numbers> {
    readonly size: number;
    make(length: number): A;
    readonly read: Loop<A>;
}

const makeScalar = <A extends Numbers>(size: number, make: (length: number) => A, read: Loop<A>): Scalar =>
    ({ size, make, read }) as unknown as Scalar;

// one loop per type: a shared loop would check the type of every value
const SCALARS: Readonly<Record<string, Scalar>> = {
    unsignedByte: makeScalar(
        1,
        (length) => new Uint8Array(length),
        (view, cellOffsets, into) => {
            for (let at = 0; at < cellOffsets.length; at++) into[at] = view.getUint8(cellOffsets[at]!);
        },
    ),
    short: makeScalar(
        2,
        (length) => new Int16Array(length),
        (view, cellOffsets, into) => {
            for (let at = 0; at < cellOffsets.length; at++) into[at] = view.getInt16(cellOffsets[at]!);
        },
    ),
    int: makeScalar(
        4,
        (length) => new Int32Array(length),
        (view, cellOffsets, into) => {
            for (let at = 0; at < cellOffsets.length; at++) into[at] = view.getInt32(cellOffsets[at]!);
        },
    ),
    long: makeScalar(
        8,
        (length) => new BigInt64Array(length),
        (view, cellOffsets, into) => {
            // in halves: a BigInt is an object
            const halves = new Uint32Array(into.buffer);
            for (let at = 0; at < cellOffsets.length; at++) {
                halves[2 * at] = view.getUint32(cellOffsets[at]! + 4);
                halves[2 * at + 1] = view.getUint32(cellOffsets[at]!);
            }
        },
    ),
    float: makeScalar(
        4,
        (length) => new Float32Array(length),
        (view, cellOffsets, into) => {
            for (let at = 0; at < cellOffsets.length; at++) into[at] = view.getFloat32(cellOffsets[at]!);
        },
    ),
    double: makeScalar(
        8,
        (length) => new Float64Array(length),
        (view, cellOffsets, into) => {
            for (let at = 0; at < cellOffsets.length; at++) into[at] = view.getFloat64(cellOffsets[at]!);
        },
    ),
};

function scalarOf(field: Field): Scalar {
    const found = SCALARS[field.datatype];
    if (!found) throw new Unreadable(`the datatype ${field.datatype} of ${field.name}`);
    return found;
}

/** Return the bytes of an item. */
function itemSize(field: Field): number {
    if (field.datatype === 'char' || field.datatype === 'boolean') return 1;
    return field.datatype === 'unicodeChar' ? 2 : scalarOf(field).size;
}

/** Return the number of items per value; undefined if it varies and precedes each value. */
function fixedSize(field: Field): number | undefined {
    if (!field.arraysize) return 1;
    if (field.arraysize.includes('*')) return undefined;
    return field.arraysize.split('x').reduce((size, extent) => size * Number(extent), 1);
}

/** Find the start of each cell (after its count, if any), and the bytes of the whole rows. */
function findCells(bytes: Bytes, view: DataView, fields: readonly Field[], flagBytes: number) {
    const sizes = fields.map((field) => ({ item: itemSize(field), fixed: fixedSize(field) }));
    const least = sizes.reduce((sum, { item, fixed }) => sum + (fixed === undefined ? 4 : fixed * item), flagBytes);
    const most = Math.floor(bytes.length / Math.max(1, least));
    const starts = new Uint32Array(most);
    const cellOffsets = fields.map(() => new Uint32Array(most));
    let [rows, used] = [0, 0];
    while (rows < most && used + least <= bytes.length) {
        let at = used + flagBytes;
        for (let column = 0; column < sizes.length && at <= bytes.length; column++) {
            const { item, fixed } = sizes[column]!;
            if (fixed === undefined && at + 4 > bytes.length) at = Infinity;
            else if (fixed === undefined) {
                cellOffsets[column]![rows] = at + 4;
                at += 4 + view.getUint32(at) * item;
            } else {
                cellOffsets[column]![rows] = at;
                at += fixed * item;
            }
        }
        if (at > bytes.length) break;
        starts[rows++] = used;
        used = at;
    }
    return { starts: starts.subarray(0, rows), cellOffsets: cellOffsets.map((all) => all.subarray(0, rows)), used };
}

/** Return a bit per row, 0 for NULL; undefined without NULL. */
function validBits(length: number, isValid: (row: number) => boolean): Bytes | undefined {
    const bits = new Uint8Array((length + 7) >> 3);
    let nulls = 0;
    for (let row = 0; row < length; row++) {
        if (isValid(row)) bits[row >> 3]! |= 1 << (row & 7);
        else nulls++;
    }
    return nulls ? bits : undefined;
}

/** Return a test of a column's NULL flag. */
function unflaggedTest({ bytes, starts, flags }: Rows, column: number): (row: number) => boolean {
    if (!flags) return () => true;
    const [byte, mask] = [column >> 3, 0x80 >> (column & 7)];
    return (row) => (bytes[starts[row]! + byte]! & mask) === 0;
}

type Read = (
    rows: Rows,
    cellOffsets: CellOffsets,
    field: Field,
    isValid: (row: number) => boolean,
    nothing?: string,
) => ColumnPart;

const numberPart: Read = ({ view, length, flags }, cellOffsets, field, isValid, nothing) => {
    const { make, read } = scalarOf(field);
    const values = make(length);
    read(view, cellOffsets, values);
    if (flags) return { type: 'number', length, values, valid: validBits(length, isValid) };
    // BINARY: a declared integer stands for NULL, and so does NaN
    const marker = nothing === undefined ? undefined : field.datatype === 'long' ? BigInt(nothing) : Number(nothing);
    const valid = validBits(length, (row) => values[row] !== marker && values[row] === values[row]);
    return { type: 'number', length, values, valid };
};

const [TRUE, FALSE] = [new Set([84, 116, 49]), new Set([70, 102, 48])];

const booleanPart: Read = ({ bytes, length }, cellOffsets, _field, isValid) => {
    const bits = new Uint8Array((length + 7) >> 3);
    for (let row = 0; row < length; row++) if (TRUE.has(bytes[cellOffsets[row]!]!)) bits[row >> 3]! |= 1 << (row & 7);
    const isKnown = (row: number) => TRUE.has(bytes[cellOffsets[row]!]!) || FALSE.has(bytes[cellOffsets[row]!]!);
    return { type: 'boolean', length, bits, valid: validBits(length, (row) => isValid(row) && isKnown(row)) };
};

/** Return the number of items of each cell. */
function itemCounts(view: DataView, cellOffsets: CellOffsets, field: Field): (row: number) => number {
    const fixed = fixedSize(field);
    return fixed === undefined ? (row) => view.getUint32(cellOffsets[row]! - 4) : () => fixed;
}

const UTF16 = new TextDecoder('utf-16be');
const UTF8 = new TextDecoder();
const ENCODER = new TextEncoder();

/** Convert big-endian UTF-16 to UTF-8. */
function utf16ToUtf8(wide: Bytes): Bytes {
    const narrow = new Uint8Array(wide.length >> 1);
    for (let at = 0; at < narrow.length; at++) {
        if (wide[2 * at] || wide[2 * at + 1]! > 127) return ENCODER.encode(UTF16.decode(wide));
        narrow[at] = wide[2 * at + 1]!;
    }
    return narrow;
}

/** Return the UTF-8 of a text cell up to its first NUL byte. */
function textBytes({ bytes, view }: Rows, cellOffsets: CellOffsets, field: Field): (row: number) => Bytes {
    const count = itemCounts(view, cellOffsets, field);
    const wide = field.datatype === 'unicodeChar';
    return (row) => {
        const from = cellOffsets[row]!;
        const cell = bytes.subarray(from, from + count(row) * (wide ? 2 : 1));
        const narrow = wide ? utf16ToUtf8(cell) : cell;
        const end = narrow.indexOf(0);
        return end < 0 ? narrow : narrow.subarray(0, end);
    };
}

const textPart: Read = (rows, cellOffsets, field, isValid) => {
    const { length, flags, view } = rows;
    const wide = field.datatype === 'unicodeChar';
    const count = itemCounts(view, cellOffsets, field);
    const text = textBytes(rows, cellOffsets, field);
    const offsets = new Int32Array(length + 1);
    let bytes: Bytes = new Uint8Array(length * 8);
    for (let row = 0; row < length; row++) {
        const start = offsets[row]!;
        // UTF-8 needs at most three bytes for two of UTF-16
        const most = start + count(row) * (wide ? 3 : 1);
        if (most > bytes.length) {
            const larger = new Uint8Array(most * 2);
            larger.set(bytes);
            bytes = larger;
        }
        const end = wide ? -1 : copyShortText(rows.bytes, cellOffsets[row]!, count(row), bytes, start);
        if (end >= 0) offsets[row + 1] = end;
        else {
            const cell = text(row);
            bytes.set(cell, start);
            offsets[row + 1] = start + cell.length;
        }
    }
    // BINARY does not distinguish an empty text from NULL
    const valid = validBits(length, flags ? isValid : (row) => offsets[row + 1]! > offsets[row]!);
    return { type: 'text', length, offsets, bytes: bytes.slice(0, offsets[length]), valid };
};

/**
 * Copy a short text up to its first NUL byte, which is faster than with views. Return its end; -1 if it is too long.
 */
function copyShortText(from: Bytes, at: number, count: number, to: Bytes, start: number): number {
    if (count > 64) return -1;
    for (let byte = 0; byte < count; byte++) {
        if (from[at + byte] === 0) return start + byte;
        to[start + byte] = from[at + byte]!;
    }
    return start + count;
}

const timePart: Read = (rows, cellOffsets, field, isValid) => {
    const { length } = rows;
    const text = textBytes(rows, cellOffsets, field);
    const instants = Array.from({ length }, (_, row) =>
        isValid(row) ? parseMicros(UTF8.decode(text(row))) : undefined,
    );
    const valid = validBits(length, (row) => instants[row] !== undefined);
    return { type: 'time', length, micros: BigInt64Array.from(instants, (instant) => instant ?? 0n), valid };
};

const listPart: Read = (rows, cellOffsets, field, isValid) => {
    const { length, view } = rows;
    const count = itemCounts(view, cellOffsets, field);
    const offsets = new Int32Array(length + 1);
    for (let row = 0; row < length; row++) offsets[row + 1] = offsets[row]! + (isValid(row) ? count(row) : 0);
    const size = itemSize(field);
    const items = new Uint32Array(offsets[length]!);
    for (let row = 0; row < length; row++)
        for (let to = offsets[row]!, at = cellOffsets[row]!; to < offsets[row + 1]!; to++, at += size) items[to] = at;
    const read = field.datatype === 'boolean' ? booleanPart : numberPart;
    const within = read({ ...rows, length: items.length, flags: true }, items, field, () => true);
    return {
        type: 'list',
        length,
        offsets,
        items: within,
        valid: validBits(length, (row) => offsets[row + 1]! > offsets[row]!),
    };
};

const PARTS = {
    number: numberPart,
    boolean: booleanPart,
    text: textPart,
    time: timePart,
    array: listPart,
} as const;

/** Decode the whole rows in `bytes` and return the number of bytes used. Raises Unreadable for other datatypes. */
export function decodeBinaryRows(
    bytes: Bytes,
    fields: readonly Field[],
    flags: boolean,
    nulls: readonly (string | undefined)[],
): { length: number; parts: ColumnPart[]; used: number } {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const { starts, cellOffsets, used } = findCells(bytes, view, fields, flags ? (fields.length + 7) >> 3 : 0);
    const rows = { bytes, view, length: starts.length, starts, flags };
    const parts = fields.map((field, column) =>
        PARTS[field.kind](rows, cellOffsets[column]!, field, unflaggedTest(rows, column), nulls[column]),
    );
    return { length: rows.length, parts, used };
}
