/** Rows as the page shows them, as an upload that the service writes in another format or stores. */

import { makeUnique, quoteName } from '../adql/adqlNames';
import type { Table, TextRequest } from '../model/resultModel';

/** Larger tables are not uploaded. */
export const MAX_UPLOADED_ROWS = 500_000;

export interface RowsUpload {
    /** a query that returns the rows in their order */
    readonly query: string;
    readonly files: Readonly<Record<string, Blob>>;
    readonly maxrec: number;
}

/** Write rows as a VOTable to upload, with the metadata of their columns, and the query that returns them. */
export async function makeRowsUpload(
    table: Table,
    rows: TextRequest['rows'] = 'shown',
    columns: readonly number[] = [...table.fields.keys()],
): Promise<RowsUpload> {
    const names = columns.map((column) => table.fields[column]!.name);
    const numbered = makeUnique('row_number', names);
    const file = await table.writeText({ format: 'votable', rows, columns, numbered: numbered });
    // an upload has no order
    const query = `SELECT ${names.map(quoteName).join(', ')}\nFROM TAP_UPLOAD.shown\nORDER BY ${quoteName(numbered)}`;
    const count = rows === 'chosen' ? table.chosenCount : rows === 'shown' ? table.shown : rows.to - rows.from;
    return { query, files: { shown: file }, maxrec: Math.max(count, 1) };
}
