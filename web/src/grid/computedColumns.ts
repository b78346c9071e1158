/** Adds, changes and removes computed columns of a table. */

import { loadPart } from '../browser/pagePart';
import type { ComputedColumn, Table } from '../model/resultModel';
import { columnTexts } from '../text/columnTexts';

/** Put a column in the index of another, or behind all; `name` is the old one. Raises as `Table.computeColumns`. */
export function putComputed(table: Table, name: string | undefined, column: ComputedColumn): Promise<void> {
    const isThere = table.computed.some((other) => other.name === name);
    return table.computeColumns(
        isThere ? table.computed.map((other) => (other.name === name ? column : other)) : [...table.computed, column],
    );
}

/** Remove a column. Return why it cannot be removed: others use it; '' if it was. */
export async function removeComputed(table: Table, name: string): Promise<string> {
    const { planColumns } = await loadPart(() => import('../expression/computedColumn'));
    const rest = table.computed.filter((other) => other.name !== name);
    const stored = table.fields.slice(0, table.fields.length - table.computed.length);
    for (let at = 0; at < rest.length; at++) {
        try {
            planColumns(rest.slice(0, at + 1), stored);
        } catch {
            return columnTexts.errors.used(name, rest[at]!.name);
        }
    }
    await table.computeColumns(rest);
    return '';
}
