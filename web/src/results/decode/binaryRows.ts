/** Rows of VOTable BINARY and BINARY2 into columns: one builder per column, which reads its cell of every row. */

import type { Bytes, Numbers, Part } from '../columns';
import type { Field } from '../model';
import { micros } from '../time';
import { Unreadable } from './result';

/** Reads a cell at `at` as row `row`: where the next one begins; -1 if the bytes end before. */
interface Builder {
    read(view: DataView, at: number, row: number, isNull: boolean): number;
    grow(rows: number): void;
    part(rows: number): Part;
}

/** `nothing`: the integer that stands for NULL; `loose`: BINARY, where NaN and NULL are one, and so are '' and NULL. */
type Make = (field: Field, nothing: string | undefined, loose: boolean) => Builder;

interface Scalar {
    readonly size: number;
    make(length: number): Numbers;
    get(view: DataView, at: number): number | bigint;
}

const SCALARS: Readonly<Record<string, Scalar>> = {
    unsignedByte: { size: 1, make: (length) => new Uint8Array(length), get: (view, at) => view.getUint8(at) },
    short: { size: 2, make: (length) => new Int16Array(length), get: (view, at) => view.getInt16(at) },
    int: { size: 4, make: (length) => new Int32Array(length), get: (view, at) => view.getInt32(at) },
    long: { size: 8, make: (length) => new BigInt64Array(length), get: (view, at) => view.getBigInt64(at) },
    float: { size: 4, make: (length) => new Float32Array(length), get: (view, at) => view.getFloat32(at) },
    double: { size: 8, make: (length) => new Float64Array(length), get: (view, at) => view.getFloat64(at) },
};

function scalar(field: Field): Scalar {
    const found = SCALARS[field.datatype];
    if (!found) throw new Unreadable(`the datatype ${field.datatype} of ${field.name}`);
    return found;
}

/** The number of items of each value; undefined: it varies, and is before each. */
export function fixedSize(field: Field): number | undefined {
    if (!field.arraysize) return 1;
    if (field.arraysize.includes('*')) return undefined;
    return field.arraysize.split('x').reduce((size, extent) => size * Number(extent), 1);
}

/** Bits of rows that are not NULL. */
class Valid {
    #bits: Bytes = new Uint8Array();
    #nulls = 0;

    grow(rows: number): void {
        this.#bits = grown(this.#bits, Math.ceil(rows / 8), (length) => new Uint8Array(length));
    }

    set(row: number, isValid: boolean): void {
        if (isValid) this.#bits[row >> 3]! |= 1 << (row & 7);
        else this.#nulls++;
    }

    get bits(): Bytes | undefined {
        return this.#nulls ? this.#bits : undefined;
    }
}

function grown<A extends { length: number; set(from: A): void }>(
    array: A,
    length: number,
    make: (length: number) => A,
): A {
    if (array.length >= length) return array;
    const larger = make(Math.max(length, array.length * 2));
    larger.set(array);
    return larger;
}

const numberBuilder: Make = (field, nothing, loose) => {
    const { size, make, get } = scalar(field);
    const marker = nothing === undefined ? undefined : field.datatype === 'long' ? BigInt(nothing) : Number(nothing);
    const valid = new Valid();
    let values = make(0) as Float64Array<ArrayBuffer>;
    return {
        read(view, at, row, isNull) {
            if (at + size > view.byteLength) return -1;
            const value = get(view, at) as number;
            values[row] = value;
            valid.set(row, !isNull && value !== marker && !(loose && value !== value));
            return at + size;
        },
        grow(rows) {
            values = grown(values, rows, make as (length: number) => Float64Array<ArrayBuffer>);
            valid.grow(rows);
        },
        part: (rows) => ({ type: 'number', length: rows, valid: valid.bits, values: values.slice(0, rows) }),
    };
};

const TRUE = new Set([...'Tt1'].map((letter) => letter.charCodeAt(0)));
const FALSE = new Set([...'Ff0'].map((letter) => letter.charCodeAt(0)));

const booleanBuilder: Make = () => {
    const valid = new Valid();
    let bits: Bytes = new Uint8Array();
    return {
        read(view, at, row, isNull) {
            if (at >= view.byteLength) return -1;
            const code = view.getUint8(at);
            if (TRUE.has(code)) bits[row >> 3]! |= 1 << (row & 7);
            valid.set(row, !isNull && (TRUE.has(code) || FALSE.has(code)));
            return at + 1;
        },
        grow(rows) {
            bits = grown(bits, Math.ceil(rows / 8), (length) => new Uint8Array(length));
            valid.grow(rows);
        },
        part: (rows) => ({ type: 'boolean', length: rows, valid: valid.bits, bits }),
    };
};

/** Where the items of a cell are: from, to, and how many; undefined if the bytes end before. */
function cellAt(
    view: DataView,
    at: number,
    fixed: number | undefined,
    size: number,
): [number, number, number] | undefined {
    if (fixed === undefined && at + 4 > view.byteLength) return undefined;
    const count = fixed ?? view.getUint32(at);
    const from = fixed === undefined ? at + 4 : at;
    return from + count * size > view.byteLength ? undefined : [from, from + count * size, count];
}

const UTF16 = new TextDecoder('utf-16be');
const UTF8 = new TextDecoder();
const ENCODER = new TextEncoder();

/** UTF-8 of big-endian UTF-16. */
function narrowed(wide: Bytes): Bytes {
    const narrow = new Uint8Array(wide.length >> 1);
    for (let at = 0; at < narrow.length; at++) {
        if (wide[2 * at] || wide[2 * at + 1]! > 127) return ENCODER.encode(UTF16.decode(wide));
        narrow[at] = wide[2 * at + 1]!;
    }
    return narrow;
}

const textBuilder: Make = (field, _nothing, loose) => {
    const wide = field.datatype === 'unicodeChar';
    const fixed = fixedSize(field);
    const valid = new Valid();
    let offsets = new Int32Array(1);
    let bytes: Bytes = new Uint8Array(1024);
    return {
        read(view, at, row, isNull) {
            const cell = cellAt(view, at, fixed, wide ? 2 : 1);
            if (!cell) return -1;
            let said = new Uint8Array(view.buffer as ArrayBuffer, view.byteOffset + cell[0], cell[1] - cell[0]);
            if (wide) said = narrowed(said);
            const end = said.indexOf(0);
            if (end >= 0) said = said.subarray(0, end);
            const start = offsets[row]!;
            bytes = grown(bytes, start + said.length, (length) => new Uint8Array(length));
            bytes.set(said, start);
            offsets[row + 1] = start + said.length;
            valid.set(row, !isNull && !(loose && said.length === 0));
            return cell[1];
        },
        grow(rows) {
            offsets = grown(offsets, rows + 1, (length) => new Int32Array(length));
            valid.grow(rows);
        },
        part(rows) {
            const end = offsets[rows]!;
            const used = { offsets: offsets.slice(0, rows + 1), bytes: bytes.slice(0, end) };
            return { type: 'text', length: rows, valid: valid.bits, ...used };
        },
    };
};

const timeBuilder: Make = (field) => {
    const fixed = fixedSize(field);
    const wide = field.datatype === 'unicodeChar';
    const valid = new Valid();
    let instants = new BigInt64Array();
    return {
        read(view, at, row, isNull) {
            const cell = cellAt(view, at, fixed, wide ? 2 : 1);
            if (!cell) return -1;
            const said = new Uint8Array(view.buffer as ArrayBuffer, view.byteOffset + cell[0], cell[1] - cell[0]);
            const instant = isNull ? undefined : micros((wide ? UTF16 : UTF8).decode(said).replace(/\0.*$/s, ''));
            instants[row] = instant ?? 0n;
            valid.set(row, instant !== undefined);
            return cell[1];
        },
        grow(rows) {
            instants = grown(instants, rows, (length) => new BigInt64Array(length));
            valid.grow(rows);
        },
        part: (rows) => ({ type: 'time', length: rows, valid: valid.bits, micros: instants.slice(0, rows) }),
    };
};

const listBuilder: Make = (field) => {
    const fixed = fixedSize(field);
    const { arraysize, ...one } = field;
    void arraysize;
    const size = field.datatype === 'boolean' ? 1 : scalar(field).size;
    const items =
        field.datatype === 'boolean' ? booleanBuilder(one, undefined, false) : numberBuilder(one, undefined, false);
    const valid = new Valid();
    let offsets = new Int32Array(1);
    return {
        read(view, at, row, isNull) {
            const cell = cellAt(view, at, fixed, size);
            if (!cell) return -1;
            const start = offsets[row]!;
            const count = isNull ? 0 : cell[2];
            items.grow(start + count);
            for (let item = 0; item < count; item++) items.read(view, cell[0] + item * size, start + item, false);
            offsets[row + 1] = start + count;
            valid.set(row, count > 0);
            return cell[1];
        },
        grow(rows) {
            offsets = grown(offsets, rows + 1, (length) => new Int32Array(length));
            valid.grow(rows);
        },
        part(rows) {
            const whole = offsets.slice(0, rows + 1);
            return { type: 'list', length: rows, valid: valid.bits, offsets: whole, items: items.part(whole[rows]!) };
        },
    };
};

const BUILDERS = {
    number: numberBuilder,
    boolean: booleanBuilder,
    text: textBuilder,
    time: timeBuilder,
    array: listBuilder,
} as const;

/** The whole rows in `bytes`, and how many bytes they were. Raises Unreadable for datatypes that are not shown. */
export function binaryRows(
    bytes: Bytes,
    fields: readonly Field[],
    flags: boolean,
    nulls: readonly (string | undefined)[],
): { length: number; parts: Part[]; used: number } {
    const builders = fields.map((field, at) => BUILDERS[field.kind](field, flags ? undefined : nulls[at], !flags));
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const flagBytes = flags ? (fields.length + 7) >> 3 : 0;
    let [rows, used, capacity] = [0, 0, 0];
    for (;;) {
        if (rows === capacity) {
            capacity = capacity * 2 || 1024;
            for (const builder of builders) builder.grow(capacity);
        }
        let at = used + flagBytes;
        if (at > bytes.length || used === bytes.length) break;
        for (let column = 0; column < builders.length && at >= 0; column++) {
            const isNull = flags && (bytes[used + (column >> 3)]! & (0x80 >> (column & 7))) !== 0;
            at = builders[column]!.read(view, at, rows, isNull);
        }
        if (at < 0) break;
        used = at;
        rows++;
    }
    return { length: rows, parts: builders.map((builder) => builder.part(rows)), used };
}
