import { describe, expect, test } from 'vitest';
import { firstWidth, columnsInSight, columnStarts } from './columnWidths';
import { moveCell, nextSorting } from './cellMoves';
import { MAX_HEIGHT, GridScroller } from './gridScroller';

describe('scrolling over a million rows', () => {
    const ROWS = 1_000_000;
    const SEEN = 520;
    const scroller = () => {
        const made = new GridScroller(26);
        made.setSize(ROWS, SEEN);
        return made;
    };

    test('the element is no higher than browsers allow', () => {
        expect(scroller().height).toBe(MAX_HEIGHT);
        const few = new GridScroller(26);
        few.setSize(10, SEEN);
        expect(few.height).toBe(260);
    });

    test('small moves go by pixels', () => {
        const made = scroller();
        made.followBar(52);
        expect(made.indexes[0]).toBe(2);
        expect(made.rowTop(2)).toBe(52);
    });

    test('the bar at its end shows the last row, at its begin the first', () => {
        const made = scroller();
        made.followBar(MAX_HEIGHT - SEEN);
        expect(made.indexes[1]).toBe(ROWS);
        made.followBar(0);
        expect(made.indexes[0]).toBe(0);
    });

    test('a dragged bar goes to the same fraction', () => {
        const made = scroller();
        made.followBar((MAX_HEIGHT - SEEN) / 2);
        expect(made.indexes[0] / ROWS).toBeCloseTo(0.5, 3);
    });

    test('after many small moves the bar is put right, and the rows stay', () => {
        const made = scroller();
        for (let bar = 0; bar <= 50_000; bar += 100) made.followBar(bar);
        const [index] = made.indexes;
        expect(index).toBe(Math.floor(50_000 / 26));
        const bar = made.settleBar();
        expect(bar).toBeLessThan(50_000);
        made.followBar(bar);
        expect(made.indexes[0]).toBe(index);
    });

    test.each([0, 1, 499_999, 999_980, 999_999])('index %d is shown whole, where the browser can draw it', (index) => {
        const made = scroller();
        made.revealRow(index);
        const y = made.rowTop(index);
        expect(y).toBeGreaterThanOrEqual(made.bar - 1);
        expect(y + 26).toBeLessThanOrEqual(made.bar + SEEN + 1);
        expect(y + 26).toBeLessThanOrEqual(MAX_HEIGHT + 1);
        const { bar } = made;
        expect(made.revealRow(index)).toBe(bar);
    });

    test('rows that are filtered away leave no empty index behind', () => {
        const made = scroller();
        made.scrollTo(1e9);
        made.setSize(30, SEEN);
        expect(made.indexes).toEqual([10, 30]);
    });
});

test('the columns seen are those with a part in the window', () => {
    const indexes = columnStarts([100, 50, 200, 10]);
    expect(indexes).toEqual([0, 100, 150, 350, 360]);
    expect(columnsInSight(indexes, 0, 100)).toEqual([0, 1]);
    expect(columnsInSight(indexes, 0, 101)).toEqual([0, 2]);
    expect(columnsInSight(indexes, 120, 360)).toEqual([1, 4]);
    expect(columnsInSight(indexes, 150, 151)).toEqual([2, 3]);
    expect(columnsInSight(columnStarts([]), 0, 500)).toEqual([0, 0]);
});

test('a column begins as wide as its name and values, within bounds', () => {
    const field = { name: 'ra', kind: 'number', datatype: 'double' } as const;
    const width = (text: string) => text.length * 8;
    expect(firstWidth(field, ['279.2347'], width)).toBeGreaterThanOrEqual(8 * 8);
    expect(firstWidth({ ...field, kind: 'text' }, ['x'.repeat(900)], width)).toBeLessThan(400);
    expect(firstWidth(field, [], width)).toBeGreaterThanOrEqual(48);
});

test('keys go to cells, and stay within the table', () => {
    const extent = { rows: 1000, slots: 5, page: 20 };
    const from = { index: 10, slot: 2 };
    const to = (key: string, far = false, at = from) => moveCell(at, key, far, extent);
    expect(to('ArrowDown')).toEqual({ index: 11, slot: 2 });
    expect(to('ArrowUp', false, { index: 0, slot: 2 })).toEqual({ index: -1, slot: 2 });
    expect(to('ArrowUp', true)).toEqual({ index: 0, slot: 2 });
    expect(to('ArrowRight', true)).toEqual({ index: 10, slot: 4 });
    expect(to('PageDown')).toEqual({ index: 30, slot: 2 });
    expect(to('PageUp')).toEqual({ index: 0, slot: 2 });
    expect(to('PageDown', false, { index: 990, slot: 2 })).toEqual({ index: 999, slot: 2 });
    expect(to('Home')).toEqual({ index: 10, slot: 0 });
    expect(to('End', true)).toEqual({ index: 999, slot: 4 });
    expect(to('x')).toBeUndefined();
    expect(moveCell({ index: -1, slot: 0 }, 'ArrowDown', false, { rows: 0, slots: 0, page: 1 })).toEqual({
        index: -1,
        slot: 0,
    });
});

test('clicks sort up, down, not at all; with Shift in addition to the others', () => {
    const up = { column: 3, descending: false };
    const down = { column: 3, descending: true };
    const other = { column: 1, descending: true };
    expect(nextSorting([], 3, false)).toEqual([up]);
    expect(nextSorting([up], 3, false)).toEqual([down]);
    expect(nextSorting([down], 3, false)).toEqual([]);
    expect(nextSorting([other], 3, false)).toEqual([up]);
    expect(nextSorting([other], 3, true)).toEqual([other, up]);
    expect(nextSorting([up, other], 3, true)).toEqual([down, other]);
    expect(nextSorting([down, other], 3, true)).toEqual([other]);
});
