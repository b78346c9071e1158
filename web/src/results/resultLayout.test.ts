import { describe, expect, test, vi } from 'vitest';
import { MemoryTable, number, words } from '../plots/points/memoryTable.fixture';
import { ResultLayout } from './resultLayout.svelte';

// the grid's modules take the service's address from the page's
vi.hoisted(() => Object.assign(globalThis, { document: { baseURI: 'https://example.org/sky/' } }));

const QUERY = 'SELECT * FROM stars';
const COMPUTED = { name: 'sum', expression: 'x + y' };
const makeTable = () => new MemoryTable([number('x'), number('y'), words('type')], [[1, 2, 3], [10, 20, 30], ['a', 'b', 'a']]); // prettier-ignore

async function restored(kept: string, { table = makeTable(), query = QUERY, stored = true } = {}) {
    const layout = new ResultLayout(table, { kept, query, stored });
    await layout.restore();
    await layout.restoreSelection();
    return { layout, table };
}

/** A layout with a computed column on an axis and in the filters, two plots, and a selection. */
async function makeKept(): Promise<string> {
    const { layout, table } = await restored('');
    await table.computeColumns([COMPUTED]);
    layout.addKind('histogram', undefined);
    const { plot } = layout.plots.list[1]!;
    plot.setAxis('value', { column: 3 });
    layout.grid.arrangement.pinColumn(3, true);
    await table.filterBy([
        { column: 2, oneOf: ['a', null] },
        { column: 3, min: 5 },
        { column: -1, rows: Uint8Array.of(1, 1, 1), title: 'mine' },
    ]);
    await table.sortBy([{ column: 3, descending: true }]);
    table.chooseRows(Uint8Array.of(0, 1, 1));
    layout.view = 'both';
    return layout.written;
}

describe('the layout of a result', () => {
    test('is empty while it is the usual one', async () => {
        expect((await restored('')).layout.written).toBe('');
    });

    test('comes back with a computed column on an axis, in filters and in the sorting', async () => {
        const kept = await makeKept();
        const { layout, table } = await restored(kept);
        expect(table.computed).toEqual([COMPUTED]);
        expect(layout.plots.list[1]!.plot.settings).toMatchObject({
            kind: 'histogram',
            axes: { value: { column: 3 } },
        });
        expect(layout.grid.arrangement.isPinned(3)).toBe(true);
        // a kept selection of rows is not one of columns, and stays with the page
        expect(table.filters).toEqual([
            { column: 2, oneOf: ['a', null] },
            { column: 3, min: 5 },
        ]);
        expect(table.sorting).toEqual([{ column: 3, descending: true }]);
        expect([...table.chosen!]).toEqual([0, 1, 1]);
        expect([layout.view, layout.unknown]).toEqual(['both', []]);
        expect(layout.written).toBe(kept);
    });

    test('of another query keeps plots and columns, not filters and rows', async () => {
        const { layout, table } = await restored(await makeKept(), { query: 'SELECT * FROM galaxies' });
        expect(layout.plots.list[1]!.plot.settings?.axes.value.column).toBe(3);
        expect([table.filters, table.sorting, table.chosen]).toEqual([[], [], undefined]);
    });

    test('names what the result does not have', async () => {
        const table = new MemoryTable(
            [number('x'), words('type')],
            [
                [1, 2],
                ['a', 'b'],
            ],
        );
        const { layout } = await restored(await makeKept(), { table });
        expect(table.computed).toEqual([]);
        // x + y cannot be computed without y
        expect(new Set(layout.unknown)).toEqual(new Set(['sum']));
        expect(table.filters).toEqual([{ column: 1, oneOf: ['a', null] }]);
    });

    test.each(['{', '3', '[]', '{"plots":3,"tiles":{"parts":1},"filters":[1],"columns":7,"selection":[]}'])(
        'that anybody has written breaks nothing: %s',
        async (kept) => {
            const { layout, table } = await restored(kept);
            expect([layout.plots.list.length, table.filters, table.chosen]).toEqual([1, [], undefined]);
        },
    );
});
