import { expect, test } from 'vitest';
import type { ColumnPart } from '../model/columnParts';
import type { Field, Filter } from '../model/resultModel';
import { ArrangedRows } from './arrangedRows';
import { BINS, MAX_NUMBERS } from './facetCounts';
import { bits, longs, numbers, texts } from './madeParts.fixture';

const booleans = (values: readonly boolean[]): ColumnPart => ({
    type: 'boolean',
    length: values.length,
    bits: bits(values),
});
const instants = (values: readonly string[]): ColumnPart => ({
    type: 'time',
    length: values.length,
    micros: BigInt64Array.from(values, (value) => 1000n * BigInt(Date.parse(`${value}Z`))),
});

const KINDS = { type: 'text', mag: 'number', source: 'number', seen: 'boolean', at: 'time' } as const;
const FIELDS = Object.entries(KINDS).map(([name, kind]): Field => ({ name, kind, datatype: 'double' }));
const DAYS = ['2016-01-01T00:00:00', '2016-01-02T00:00:00'];

/** Six rows in two parts. */
function makeStore(): ArrangedRows {
    const store = new ArrangedRows();
    store.setFields(FIELDS);
    store.addBatch(4, [
        texts(['star', 'galaxy', null, 'star']),
        numbers([1, 2, 3, NaN]),
        longs([9007199254740993n, 9007199254740992n, 1n, 2n]),
        booleans([true, false, true, false]),
        instants([DAYS[0]!, DAYS[1]!, DAYS[0]!, DAYS[1]!]),
    ]);
    store.addBatch(2, [
        texts(['', 'star']),
        numbers([null, 2]),
        longs([3n, 4n]),
        booleans([true, true]),
        instants([DAYS[0]!, DAYS[0]!]),
    ]);
    return store;
}

function rowsOf(store: ArrangedRows, ...filters: Filter[]): number[] {
    store.arrangeRows([], filters);
    return [...store.rowsAt(0, store.shown)];
}

test.each<[string, Filter, number[]]>([
    ['texts', { column: 0, oneOf: ['star', ''] }, [0, 3, 4, 5]],
    ['NULL as a value', { column: 0, oneOf: [null, 'galaxy'] }, [1, 2]],
    ['all but some texts', { column: 0, noneOf: ['star'] }, [1, 2, 4]],
    ['all but NULL', { column: 0, noneOf: [null] }, [0, 1, 3, 4, 5]],
    ['numbers, with NULL and NaN', { column: 1, oneOf: ['2', null] }, [1, 3, 4, 5]],
    ['64-bit integers, all digits', { column: 2, oneOf: ['9007199254740993'] }, [0]],
    ['what is no integer', { column: 2, oneOf: ['1.5', 'x', '2'] }, [3]],
    ['booleans', { column: 3, noneOf: ['true'] }, [1, 3]],
    ['instants', { column: 4, oneOf: ['2016-01-02T00:00:00'] }, [1, 3]],
    ['rows', { column: -1, rows: Uint8Array.of(1, 0, 0, 0, 0, 1), title: 'mine' }, [0, 5]],
])('rows are filtered by %s', (_, filter, rows) => expect(rowsOf(makeStore(), filter)).toEqual(rows));

test('rows that came after a selection was kept are not in it', () => {
    expect(rowsOf(makeStore(), { column: -1, rows: Uint8Array.of(0, 1, 1), title: 'mine' })).toEqual([1, 2]);
});

test('values are counted among the rows that pass the filters of other columns', () => {
    const store = makeStore();
    store.arrangeRows(
        [],
        [
            { column: 0, oneOf: ['star'] },
            { column: 1, min: 1.5 },
        ],
    );
    const [types, magnitudes] = store.countFacets([0, 1]);
    expect(types).toEqual({
        type: 'values',
        values: [
            { value: 'star', all: 3, passing: 1 },
            { value: '', all: 1, passing: 0 },
            { value: 'galaxy', all: 1, passing: 1 },
            { value: null, all: 1, passing: 1 },
        ],
    });
    expect(magnitudes).toEqual({
        type: 'values',
        values: [
            { value: '2', all: 2, passing: 1 },
            { value: '1', all: 1, passing: 1 },
            { value: '3', all: 1, passing: 0 },
            { value: null, all: 2, passing: 1 },
        ],
    });
    // a selection of rows filters the facets of all columns
    store.arrangeRows([], [{ column: -1, rows: Uint8Array.of(0, 1, 0, 0, 0, 0), title: 'mine' }]);
    const [ofSelection] = store.countFacets([0]);
    expect(ofSelection).toMatchObject({ values: expect.arrayContaining([{ value: 'galaxy', all: 1, passing: 1 }]) });
    expect(ofSelection).toMatchObject({ values: expect.arrayContaining([{ value: 'star', all: 3, passing: 0 }]) });
});

test('many numbers are counted in bins, infinities apart', () => {
    const store = new ArrangedRows();
    store.setFields([FIELDS[1]!]);
    const values = [...Array(10 * BINS).keys(), Infinity, null];
    store.addBatch(values.length, [numbers(values)]);
    store.arrangeRows([], [{ column: 0, max: 99 }]);
    const facet = store.countFacets([0])[0]!;
    if (facet.type !== 'bins') throw new Error(facet.type);
    expect([facet.min, facet.max, facet.missing]).toEqual([0, 10 * BINS - 1, 2]);
    expect(facet.all).toHaveLength(BINS);
    expect(facet.all.reduce((sum, count) => sum + count, 0)).toBe(10 * BINS);
    // its own filter does not change them
    expect(facet.passing).toEqual(facet.all);
});

test('later rows are counted, and too many texts are not listed', () => {
    const store = new ArrangedRows();
    store.setFields([FIELDS[0]!, FIELDS[1]!]);
    const add = (from: number, length: number) => {
        const values = Array.from({ length }, (_, at) => from + at);
        store.addBatch(length, [texts(values.map((value) => `s${value}`)), numbers(values)]);
    };
    add(0, MAX_NUMBERS);
    expect(store.countFacets([0, 1]).map(({ type }) => type)).toEqual(['values', 'values']);
    add(MAX_NUMBERS, 1000);
    expect(store.countFacets([0, 1]).map(({ type }) => type)).toEqual(['many', 'bins']);
});
