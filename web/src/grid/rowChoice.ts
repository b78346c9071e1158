/** Choosing rows by index: one, several, a range. */

import type { Table } from '../model/resultModel';

/** Copy the marks of chosen rows, with room for all rows. */
function copyMarks(table: Table): Uint8Array {
    const copy = new Uint8Array(table.rows);
    if (table.chosen) copy.set(table.chosen.subarray(0, table.rows));
    return copy;
}

/** Choose only this row; choose none if it already is the only one. */
export function chooseOne(table: Table, row: number): void {
    if (row < 0) return;
    if (table.chosenCount === 1 && table.chosen?.[row]) return table.chooseRows(undefined);
    const only = new Uint8Array(table.rows);
    only[row] = 1;
    table.chooseRows(only);
}

/** Add a row to the choice, or remove it. */
export function toggleOne(table: Table, row: number): void {
    if (row < 0) return;
    const changed = copyMarks(table);
    changed[row] = changed[row] ? 0 : 1;
    table.chooseRows(changed);
}

/** Choose all rows between two indexes. `more`: keep the others. */
export async function chooseBetween(table: Table, one: number, other: number, more: boolean): Promise<void> {
    const { rows } = await table.readPage(Math.min(one, other), Math.max(one, other) + 1, []);
    const changed = more ? copyMarks(table) : new Uint8Array(table.rows);
    for (const row of rows) changed[row] = 1;
    table.chooseRows(changed);
}

export const chooseAll = (table: Table): Promise<void> => chooseBetween(table, 0, table.shown - 1, false);

/** Return the next index after `index` with a chosen row, from the top after the end; -1 if none is shown. */
export async function nextChosen(table: Table, index: number): Promise<number> {
    const { chosen } = table;
    if (!chosen) return -1;
    const order = await table.readOrder();
    for (let step = 1; step <= order.length; step++) {
        const at = (index + step) % order.length;
        if (chosen[order[at]!]) return at;
    }
    return -1;
}
