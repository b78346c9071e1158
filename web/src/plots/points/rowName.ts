/** The name of a row: the value of its identifying column. */

import type { Field, Table } from '../../model/resultModel';

/** Return the identifying column; -1 if there is none. */
export function findNameColumn(fields: readonly Field[]): number {
    const main = fields.findIndex(({ ucd }) => ucd === 'meta.id;meta.main');
    return main >= 0 ? main : fields.findIndex(({ ucd }) => (ucd ?? '').split(';')[0] === 'meta.id');
}

/** Return the name of a row; '' if it has none. */
export async function findRowName(table: Table, row: number): Promise<string> {
    const column = findNameColumn(table.fields);
    if (column < 0) return '';
    const index = (await table.readOrder()).indexOf(row);
    if (index < 0) return '';
    const { cells } = await table.readPage(index, index + 1, [column]);
    return String(cells[0]?.[0] ?? '');
}
