import { expect, test } from 'vitest';
import { MemoryTable, number } from '../plots/points/memoryTable.fixture';
import { ColumnArrangement } from './columnArrangement.svelte';

function arrange(...names: string[]): ColumnArrangement {
    return new ColumnArrangement(
        new MemoryTable(
            names.map((name) => number(name)),
            [],
        ),
    );
}
const shownOf = ({ table, shown }: ColumnArrangement) => shown.map((column) => table.fields[column]!.name).join(' ');

test('columns are moved, hidden and kept to the left', () => {
    const columns = arrange('a', 'b', 'c', 'd');
    expect([shownOf(columns), columns.isChanged]).toEqual(['a b c d', false]);
    columns.moveColumn(3, 1);
    expect(shownOf(columns)).toBe('a d b c');
    columns.moveColumn(0, undefined);
    expect(shownOf(columns)).toBe('d b c a');
    columns.showColumns([1, 2], false);
    expect(shownOf(columns)).toBe('d a');
    columns.pinColumn(0, true);
    expect([shownOf(columns), columns.pinnedCount]).toEqual(['a d', 1]);
    columns.showColumns([1, 2], true);
    expect(shownOf(columns)).toBe('a d b c');
    columns.reset();
    expect([shownOf(columns), columns.isChanged]).toEqual(['a b c d', false]);
});

test('a column that is moved among those to the left stays there, and leaves them with them behind it', () => {
    const columns = arrange('a', 'b', 'c', 'd');
    columns.pinColumn(0, true);
    columns.pinColumn(1, true);
    columns.moveColumn(3, 1);
    expect([shownOf(columns), columns.pinnedCount]).toEqual(['a d b c', 3]);
    columns.moveColumn(0, undefined);
    expect([shownOf(columns), columns.isPinned(0)]).toEqual(['d b c a', false]);
});

test('steps go by shown columns, and not across the end of those to the left', () => {
    const columns = arrange('a', 'b', 'c', 'd');
    columns.showColumns([1], false);
    columns.stepColumn(2, -1);
    expect(shownOf(columns)).toBe('c a d');
    columns.stepColumn(2, -1);
    columns.pinColumn(3, true);
    columns.stepColumn(3, 1);
    expect(shownOf(columns)).toBe('d c a');
});

test('the last column cannot be hidden', () => {
    const columns = arrange('a', 'b');
    columns.showColumns([0, 1], false);
    expect(shownOf(columns)).toBe('a');
});

test('what is kept fits a result with other columns', async () => {
    const columns = arrange('a', 'b', 'b', 'c');
    columns.moveColumn(3, 0);
    columns.showColumns([2], false);
    columns.pinColumn(1, true);
    expect(shownOf(columns)).toBe('b c a');
    const kept = JSON.parse(JSON.stringify(columns.toKept()));

    const same = arrange('a', 'b', 'b', 'c');
    expect(await same.fromKept(kept)).toEqual([]);
    expect(shownOf(same)).toBe('b c a');
    expect(same.toKept()).toEqual(kept);

    // new columns stand behind the one that precedes them in the result
    const other = arrange('a', 'new', 'c');
    await other.fromKept(kept);
    expect(shownOf(other)).toBe('c a new');
    for (const nonsense of [{ order: 3, hidden: [null, 1], pinned: 'a' }, { computed: [null, { name: 1 }] }]) {
        await other.fromKept(nonsense as never);
        expect(shownOf(other)).toBe('a new c');
    }
});
