/** Sorts rows by columns: a stable radix sort, which is fast for a million rows. */

import { isNull, writeNumbers, type ColumnPart } from '../model/columnParts';
import type { Sort } from '../model/resultModel';
import type { ColumnStore } from '../model/columnStore';

type Rows = Uint32Array<ArrayBuffer>;

/** A 64-bit unsigned key per row, in two halves, in the order of the rows to sort. */
interface SortKeys {
    readonly low: Rows;
    readonly high: Rows;
}

/** Sort rows by the first column, ties by the second, and so on. NaN come after all values, then NULL. */
export function sortRows(store: ColumnStore, by: readonly Sort[], rows: Rows): Rows {
    // from the last column to the first: each sort is stable
    return by.toReversed().reduce((order, sort) => sortByColumn(store, sort, order), rows);
}

function sortByColumn(store: ColumnStore, { column, descending }: Sort, rows: Rows): Rows {
    const parts = store.partsOf(column);
    const first = parts[0];
    if (!first) return rows;
    const { values, nulls } = splitNulls(store, parts, rows);
    if (first.type === 'text') return joinRows(sortByText(store, parts, values, descending), nulls);
    if (first.type === 'list') return joinRows(sortByList(store, parts, values, descending), nulls);
    const isLong = first.type === 'time' || (first.type === 'number' && first.values.BYTES_PER_ELEMENT === 8);
    if (isLong && !(first.type === 'number' && first.values instanceof Float64Array))
        return joinRows(sortByKeys(values, integerKeys(store, parts, values, descending)), nulls);
    const [numbers, nans] = splitNaN(store, column, values);
    return joinRows(sortByKeys(numbers.rows, floatKeys(numbers.values, descending)), nans, nulls);
}

/** Split the rows into rows with a value and rows without, both in order. */
function splitNulls(store: ColumnStore, parts: readonly ColumnPart[], rows: Rows): { values: Rows; nulls: Rows } {
    if (parts.every((part) => !part.valid)) return { values: rows, nulls: new Uint32Array() };
    const missing = new Uint8Array(store.rows);
    parts.forEach((part, batch) => {
        const start = store.starts[batch]!;
        if (part.valid) for (let at = 0; at < part.length; at++) missing[start + at] = +isNull(part, at);
    });
    return { values: rows.filter((row) => !missing[row]), nulls: rows.filter((row) => missing[row]) };
}

function joinRows(...pieces: Rows[]): Rows {
    const whole = new Uint32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
        whole.set(piece, at);
        at += piece.length;
    }
    return whole;
}

function splitNaN(store: ColumnStore, column: number, rows: Rows): [{ rows: Rows; values: Float64Array }, Rows] {
    const all = store.readNumbers(column);
    const [numbers, values] = [new Uint32Array(rows.length), new Float64Array(rows.length)];
    const nans = new Uint32Array(rows.length);
    let [found, missing] = [0, 0];
    for (let at = 0; at < rows.length; at++) {
        const row = rows[at]!;
        const value = all[row]!;
        if (value !== value) nans[missing++] = row;
        else {
            numbers[found] = row;
            // -0 becomes 0
            values[found++] = value + 0;
        }
    }
    return [{ rows: numbers.subarray(0, found), values: values.subarray(0, found) }, nans.subarray(0, missing)];
}

/** Return the bits of floats as keys that compare as unsigned integers. */
function floatKeys(values: Float64Array, descending: boolean): SortKeys {
    const { length } = values;
    const halves = new Uint32Array(values.buffer, values.byteOffset, 2 * length);
    const [low, high] = [new Uint32Array(length), new Uint32Array(length)];
    const inverted = descending ? 0xffffffff : 0;
    for (let at = 0; at < length; at++) {
        const top = halves[2 * at + 1]!;
        const mask = top >>> 31 ? 0xffffffff : 0;
        low[at] = halves[2 * at]! ^ mask ^ inverted;
        high[at] = top ^ (mask | 0x80000000) ^ inverted;
    }
    return { low, high };
}

/** Return keys of 64-bit integers and instants, which a double would round. */
function integerKeys(store: ColumnStore, parts: readonly ColumnPart[], rows: Rows, descending: boolean): SortKeys {
    const all = new Uint32Array(2 * store.rows);
    parts.forEach((part, batch) => {
        const values = part.type === 'time' ? part.micros : part.type === 'number' ? part.values : undefined;
        if (values)
            all.set(new Uint32Array(values.buffer, values.byteOffset, 2 * part.length), 2 * store.starts[batch]!);
    });
    const first = parts[0];
    const signed = first?.type === 'number' && first.values instanceof BigUint64Array ? 0 : 0x80000000;
    const inverted = descending ? 0xffffffff : 0;
    const [low, high] = [new Uint32Array(rows.length), new Uint32Array(rows.length)];
    for (let at = 0; at < rows.length; at++) {
        low[at] = all[2 * rows[at]!]! ^ inverted;
        high[at] = all[2 * rows[at]! + 1]! ^ signed ^ inverted;
    }
    return { low, high };
}

/** Sort rows by their keys, 16 bits at a time from the lowest. */
function sortByKeys(rows: Rows, keys: SortKeys): Rows {
    let state = { rows, ...keys };
    for (const half of ['low', 'high'] as const) for (const shift of [0, 16]) state = sortByDigit(state, half, shift);
    return state.rows;
}

function sortByDigit(state: SortKeys & { rows: Rows }, half: 'low' | 'high', shift: number): SortKeys & { rows: Rows } {
    const length = state.rows.length;
    const digits = state[half];
    const starts = new Uint32Array(65536);
    for (let at = 0; at < length; at++) starts[(digits[at]! >>> shift) & 0xffff]!++;
    if (length === 0 || starts[(digits[0]! >>> shift) & 0xffff] === length) return state;
    for (let digit = 0, sum = 0; digit < 65536; digit++) [starts[digit], sum] = [sum, sum + starts[digit]!];
    const [rows, low, high] = [new Uint32Array(length), new Uint32Array(length), new Uint32Array(length)];
    for (let at = 0; at < length; at++) {
        const digit = (digits[at]! >>> shift) & 0xffff;
        const to = starts[digit]!++;
        rows[to] = state.rows[at]!;
        low[to] = state.low[at]!;
        high[to] = state.high[at]!;
    }
    return { rows, low, high };
}

/** The texts of a column in one buffer, by row. */
class RowTexts {
    bytes: Uint8Array;
    from: Rows;
    to: Rows;

    constructor(store: ColumnStore, parts: readonly ColumnPart[]) {
        this.from = new Uint32Array(store.rows);
        this.to = new Uint32Array(store.rows);
        const sizes = parts.map((part) => (part.type === 'text' ? part.offsets[part.length]! - part.offsets[0]! : 0));
        this.bytes = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));
        let end = 0;
        parts.forEach((part, batch) => {
            if (part.type !== 'text') return;
            const [first, start] = [part.offsets[0]!, store.starts[batch]!];
            this.bytes.set(part.bytes.subarray(first, part.offsets[part.length]), end);
            for (let at = 0; at < part.length; at++) {
                this.from[start + at] = end + part.offsets[at]! - first;
                this.to[start + at] = end + part.offsets[at + 1]! - first;
            }
            end += sizes[batch]!;
        });
    }

    /** Return four bytes of a row's text from `depth` on, as a number; 0 past its end. */
    keyAt(row: number, depth: number): number {
        const [start, end] = [this.from[row]! + depth, this.to[row]!];
        let key = 0;
        for (let at = start; at < start + 4; at++) key = (key << 8) | (at < end ? this.bytes[at]! : 0);
        return key >>> 0;
    }

    compareRows(one: number, other: number, depth: number): number {
        let [at, to] = [this.from[one]! + depth, this.from[other]! + depth];
        const [end, stop] = [this.to[one]!, this.to[other]!];
        while (at < end && to < stop) {
            const difference = this.bytes[at++]! - this.bytes[to++]!;
            if (difference) return difference;
        }
        return end - at - (stop - to);
    }
}

/** Smaller groups are sorted by comparison. */
const MAX_COMPARED = 2048;

/** Sort by code points, as the service's ORDER BY. */
function sortByText(store: ColumnStore, parts: readonly ColumnPart[], rows: Rows, descending: boolean): Rows {
    const texts = new RowTexts(store, parts);
    const order = rows.slice();
    const todo: [start: number, end: number, depth: number][] = [[0, order.length, 0]];
    for (let group = todo.pop(); group; group = todo.pop()) {
        const [start, end, depth] = group;
        if (end - start < MAX_COMPARED) {
            order.subarray(start, end).sort((a, b) => (descending ? -1 : 1) * texts.compareRows(a, b, depth));
            continue;
        }
        const inverted = descending ? 0xffffffff : 0;
        const part = order.slice(start, end);
        const low = new Uint32Array(part.length);
        for (let at = 0; at < part.length; at++) low[at] = texts.keyAt(part[at]!, depth) ^ inverted;
        order.set(sortByKeys(part, { low, high: new Uint32Array(part.length) }), start);
        for (const equals of findTies(order, start, end, (row) => texts.keyAt(row, depth), depth)) todo.push(equals);
    }
    return order;
}

/** Return the groups of rows with equal four bytes, without texts that have ended. */
function findTies(
    order: Rows,
    start: number,
    end: number,
    key: (row: number) => number,
    depth: number,
): [number, number, number][] {
    const groups: [number, number, number][] = [];
    let first = start;
    for (let at = start + 1; at <= end; at++) {
        if (at < end && key(order[at]!) === key(order[first]!)) continue;
        if (at - first > 1 && key(order[first]!) !== 0) groups.push([first, at, depth + 4]);
        first = at;
    }
    return groups;
}

/** Sort arrays by their first numbers, then the second, and so on; shorter ones first. */
function sortByList(store: ColumnStore, parts: readonly ColumnPart[], rows: Rows, descending: boolean): Rows {
    const values = parts.map((part) => {
        if (part.type !== 'list') return new Float64Array();
        const numbers = new Float64Array(part.items.length);
        writeNumbers(part.items, numbers, 0);
        return numbers;
    });
    const start = (row: number) => {
        const batch = store.findBatch(row);
        const part = parts[batch]!;
        const at = row - store.starts[batch]!;
        return part.type === 'list' ? values[batch]!.subarray(part.offsets[at], part.offsets[at + 1]) : values[batch]!;
    };
    const compare = (one: number, other: number) => {
        const [a, b] = [start(one), start(other)];
        for (let at = 0; at < Math.min(a.length, b.length); at++) if (a[at] !== b[at]) return a[at]! < b[at]! ? -1 : 1;
        return a.length - b.length;
    };
    return rows.slice().sort((one, other) => (descending ? -1 : 1) * compare(one, other));
}
