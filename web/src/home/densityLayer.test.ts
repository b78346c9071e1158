import { describe, expect, test, vi } from 'vitest';
import { orderForScale, usefulOrder } from './densityLayer.svelte';

vi.hoisted(() => Object.assign(globalThis, { document: { baseURI: 'http://localhost/' } }));

const evenly = (cells: number, rows: number) => new Array<number>(cells).fill(rows);

describe('the finest order with several rows in a cell', () => {
    test.each([
        ['one row in each cell is coarsened until it has neighbours', 6, evenly(49152, 1), 0],
        ['five rows in each cell are shown as stored', 6, evenly(49152, 5), 6],
        ['a hundred million rows are worth four more orders', 6, evenly(49152, 2035), 10],
        ['a deep field is fine although the rest is empty', 6, [5_000_000], 12],
        ['no rows', 6, [], 0],
    ])('%s', (_, order, counts, expected) => {
        expect(usefulOrder({ order, counts })).toBe(expected);
    });

    test('rows that crowd decide, not the sparse rest', () => {
        const sparse = [...evenly(1000, 1), 1000];
        expect(usefulOrder({ order: 4, counts: sparse })).toBe(7);
    });
});

test('a cell of the order has about as many pixels as asked', () => {
    expect(orderForScale(58.6 / 64 / 4, 4)).toBe(6);
    expect(orderForScale(1e-6, 4)).toBe(12);
    expect(orderForScale(1000, 4)).toBe(0);
});
