import { expect, test } from 'vitest';
import type { ColumnPart } from '../model/columnParts';
import type { Field } from '../model/resultModel';
import { nextDouble } from '../model/adjacentFloats';
import { ArrangedRows } from './arrangedRows';
import { longs, numbers, texts } from './madeParts.fixture';

const NAMES = ['α', 'NGC 7', 'ngc 70', '', 'M 31', 'NGC 7', 'M 31 but longer than that', 'M'];

function field(name: string, kind: Field['kind'] = 'number'): Field {
    return { name, kind, datatype: kind === 'text' ? 'char' : 'double' };
}

/** A table in parts of `size` rows. */
function table(
    fields: readonly Field[],
    rows: number,
    size: number,
    make: ((from: number, to: number) => ColumnPart)[],
): ArrangedRows {
    const store = new ArrangedRows();
    store.setFields(fields);
    for (let at = 0; at < rows; at += size) {
        const to = Math.min(rows, at + size);
        store.addBatch(
            to - at,
            make.map((part) => part(at, to)),
        );
    }
    return store;
}

const VALUES = [3, null, -1, NaN, 0, -0, 1e300, -Infinity, null, 3, 2.5];
const small = () =>
    table([field('x'), field('row')], VALUES.length, 4, [
        (from, to) => numbers(VALUES.slice(from, to)),
        (from, to) => numbers(Array.from({ length: to - from }, (_, at) => from + at)),
    ]);

const shown = (store: ArrangedRows, column = 0) =>
    [...store.rowsAt(0, store.shown)].map((row) => store.readRow(row, [column])[0]);

test('sorted: NaN after all numbers, NULL last, equals as they came', () => {
    const store = small();
    store.arrangeRows([{ column: 0, descending: false }]);
    expect(shown(store)).toEqual([-Infinity, -1, 0, -0, 2.5, 3, 3, 1e300, NaN, null, null]);
    expect(shown(store, 1)).toEqual([7, 2, 4, 5, 10, 0, 9, 6, 3, 1, 8]);
});

test('descending too has NaN and NULL at its end, and equals as they came', () => {
    const store = small();
    store.arrangeRows([{ column: 0, descending: true }]);
    expect(shown(store)).toEqual([1e300, 3, 3, 2.5, 0, -0, -1, -Infinity, NaN, null, null]);
    expect(shown(store, 1)).toEqual([6, 0, 9, 10, 4, 5, 2, 7, 3, 1, 8]);
});

test('by two columns: the second one among equals of the first', () => {
    const rows = 5000;
    const store = table([field('a'), field('b')], rows, 700, [
        (from, to) => numbers(Array.from({ length: to - from }, (_, at) => (from + at) % 7)),
        (from, to) => numbers(Array.from({ length: to - from }, (_, at) => ((from + at) * 7919) % rows)),
    ]);
    store.arrangeRows([
        { column: 0, descending: true },
        { column: 1, descending: false },
    ]);
    const found = [...store.rowsAt(0, rows)].map((row) => store.readRow(row, [0, 1]) as number[]);
    const expected = [...found].sort((one, other) => other[0]! - one[0]! || one[1]! - other[1]!);
    expect(found).toEqual(expected);
    expect(new Set(found.map(String)).size).toBe(rows);
});

test('64-bit integers differ where a float would not', () => {
    const values = [9007199254740993n, 9007199254740992n, -(2n ** 63n), 2n ** 63n - 1n, -1n, 0n];
    const store = table([field('id')], values.length, 2, [(from, to) => longs(values.slice(from, to))]);
    store.arrangeRows([{ column: 0, descending: false }]);
    expect(shown(store)).toEqual([-(2n ** 63n), -1n, 0n, 9007199254740992n, 9007199254740993n, 2n ** 63n - 1n]);
});

test.each([false, true])('texts by code points, also among many with the same begin (descending: %s)', (descending) => {
    const values = Array.from(
        { length: 9000 },
        (_, at) => `Name of an object ${(at * 7919) % 4500}${at % 3 ? '' : ' é'}`,
    );
    const all = [...values, ...NAMES];
    const store = table([field('name', 'text')], all.length, 1000, [(from, to) => texts(all.slice(from, to))]);
    store.arrangeRows([{ column: 0, descending }]);
    const expected = all.map((value) => Buffer.from(value)).sort(Buffer.compare);
    expect(shown(store)).toEqual((descending ? expected.reverse() : expected).map(String));
});

test('a great many small groups of equal texts', () => {
    const all = Array.from({ length: 300_000 }, (_, at) => `${at % 150_000}`.padStart(6, '0').slice(0, 6) + (at % 2));
    const store = table([field('name', 'text')], all.length, 65_536, [(from, to) => texts(all.slice(from, to))]);
    store.arrangeRows([{ column: 0, descending: false }]);
    expect(shown(store)).toEqual(all.toSorted());
});

test('arrays by their first number, then the next', () => {
    const list: ColumnPart = {
        type: 'list',
        length: 3,
        offsets: Int32Array.of(0, 2, 4, 6),
        items: { type: 'number', length: 6, values: Float64Array.of(2, 1, 1, 9, 2, 0) },
    };
    const store = table([field('p', 'array')], 3, 3, [() => list]);
    store.arrangeRows([{ column: 0, descending: false }]);
    expect(shown(store)).toEqual(['1 9', '2 0', '2 1']);
});

test('a range is met by numbers within, its ends too, by no NaN and no NULL', () => {
    const store = small();
    store.arrangeRows([], [{ column: 0, min: 0, max: 3 }]);
    expect(shown(store)).toEqual([3, 0, -0, 3, 2.5]);
    store.arrangeRows([], [{ column: 0, max: Infinity }]);
    expect(store.shown).toBe(8);
});

test('a piece of text is found in either case; all filters have to hold', () => {
    const store = table([field('name', 'text'), field('x')], 8, 3, [
        (from, to) => texts(NAMES.slice(from, to)),
        (from, to) => numbers([...Array(8).keys()].slice(from, to)),
    ]);
    store.arrangeRows([], [{ column: 0, contains: 'nGc 7' }]);
    expect(shown(store)).toEqual(['NGC 7', 'ngc 70', 'NGC 7']);
    store.arrangeRows(
        [{ column: 1, descending: true }],
        [
            { column: 0, contains: 'ngc' },
            { column: 1, max: 2 },
        ],
    );
    expect(shown(store)).toEqual(['ngc 70', 'NGC 7']);
    store.arrangeRows([], [{ column: 0, contains: 'Α' }]);
    expect(shown(store)).toEqual(['α']);
});

test('the page is cut from the order shown, rows beyond are none', () => {
    const store = small();
    store.arrangeRows([{ column: 1, descending: true }]);
    expect([...store.rowsAt(2, 4)]).toEqual([8, 7]);
    expect([...store.rowsAt(9, 99)]).toEqual([1, 0]);
    expect([...store.rowsAt(50, 60)]).toEqual([]);
    expect(store.readRow(10, [1, 0, 77])).toEqual([10, 2.5, null]);
});

test('rows that come later are taken in', () => {
    const store = small();
    store.arrangeRows([{ column: 0, descending: true }]);
    store.addBatch(1, [numbers([1e301]), numbers([11])]);
    expect(store.shown).toBe(11);
    store.arrangeRows();
    expect(shown(store, 1)[0]).toBe(11);
});

test('the summary is of finite values; NULL and NaN are missing', () => {
    expect(small().summarizeColumn(0)).toEqual({ min: -1, max: 1e300, mean: (1e300 + 7.5) / 7, missing: 3 });
    const none = table([field('x')], 3, 3, [() => numbers([NaN, null, NaN])]);
    expect(none.summarizeColumn(0)).toEqual({ min: NaN, max: NaN, mean: NaN, missing: 3 });
});

test('a condition on floats means the values as they are shown', () => {
    const store = new ArrangedRows();
    store.setFields([{ ...field('mag'), datatype: 'float' }]);
    const values = Float32Array.of(1.114, 1.115, 1.1150001, -1.115, 0, NaN);
    store.addBatch(values.length, [{ type: 'number', length: values.length, values }]);
    const shownBy = (min: number, max: number) => {
        store.arrangeRows([], [{ column: 0, min, max }]);
        return [...store.rowsAt(0, store.shown)];
    };
    expect(shownBy(1.115, 1.115)).toEqual([1]);
    expect(shownBy(nextDouble(1.115, 1), Infinity)).toEqual([2]);
    expect(shownBy(-Infinity, nextDouble(1.115, -1))).toEqual([0, 3, 4]);
    expect(shownBy(-1.115, nextDouble(0, -1))).toEqual([3]);
    expect(shownBy(1.11505, 1.11506)).toEqual([]);
});
