import { expect, test } from 'vitest';
import { MemoryTable, number } from '../plots/points/memoryTable.fixture';
import { NamedSelections, selectionsOf } from './namedSelections.svelte';

const makeTable = () => new MemoryTable([number('x')], [[1, 2, 3, 4, 5]]);
const chosenOf = (table: MemoryTable) => [...(table.chosen ?? [])].join('');

test('a selection keeps its rows while others are chosen, and is combined with them', () => {
    const table = makeTable();
    const selections = new NamedSelections(table);
    selections.keep('nothing');
    expect(selections.list).toEqual([]);
    const marks = Uint8Array.of(1, 1, 0, 0, 1);
    table.chooseRows(marks);
    selections.keep('bright');
    marks[0] = 0;
    const [bright] = selections.list;
    expect(bright).toMatchObject({ name: 'bright', count: 3 });
    const combined = (['replace', 'add', 'common', 'without'] as const).map((how) => {
        table.chooseRows(Uint8Array.of(0, 1, 1, 0, 0));
        selections.combine(bright!, how);
        return chosenOf(table);
    });
    expect(combined).toEqual(['11001', '11101', '01000', '00100']);
});

test('a kept name is replaced', () => {
    const table = makeTable();
    const selections = new NamedSelections(table);
    for (const rows of [Uint8Array.of(1, 0, 0, 0, 0), Uint8Array.of(1, 1, 0, 0, 0)]) {
        table.chooseRows(rows);
        selections.keep('mine');
    }
    expect(selections.list.map(({ name, count }) => [name, count])).toEqual([['mine', 2]]);
    selections.remove('mine');
    expect(selections.list).toEqual([]);
});

test('the others are the other shown rows', async () => {
    const table = makeTable();
    table.shownRows = [4, 0, 2];
    table.chooseRows(Uint8Array.of(1, 1, 0, 0, 0));
    await new NamedSelections(table).invert();
    expect(chosenOf(table)).toBe('00101');
});

test('a selection filters the table together with other filters', async () => {
    const table = makeTable();
    const selections = selectionsOf(table);
    expect(selectionsOf(table)).toBe(selections);
    await table.filterBy([{ column: 0, min: 2 }]);
    table.chooseRows(Uint8Array.of(0, 1, 0, 1, 0));
    selections.keep('mine');
    const [mine] = selections.list;
    await selections.toggleFilter(mine!);
    expect(table.filters).toEqual([
        { column: 0, min: 2 },
        { column: -1, rows: mine!.rows, title: 'mine' },
    ]);
    expect(selections.isFilter(mine!)).toBe(true);
    await selections.toggleFilter(mine!);
    expect(table.filters).toEqual([{ column: 0, min: 2 }]);
});
