/** What a row is called: the value of the column that identifies it. */

import type { Field, Table } from '../model/resultModel';

/** The column with the name of what a row is about; -1 if there is none. */
export function findNameColumn(fields: readonly Field[]): number {
    const main = fields.findIndex(({ ucd }) => ucd === 'meta.id;meta.main');
    return main >= 0 ? main : fields.findIndex(({ ucd }) => (ucd ?? '').split(';')[0] === 'meta.id');
}

/** The name of a row; '' if it has none. */
export async function findRowName(table: Table, row: number): Promise<string> {
    const column = findNameColumn(table.fields);
    if (column < 0) return '';
    const place = (await table.readOrder()).indexOf(row);
    if (place < 0) return '';
    const { cells } = await table.readPage(place, place + 1, [column]);
    return String(cells[0]?.[0] ?? '');
}
