/** The rows that a table shows, as a file to upload. */

import type { Field, Table } from './resultModel';
import { filledVotable, writeRow } from './votableText';

/** Larger tables are not uploaded. */
export const MAX_UPLOADED_ROWS = 500_000;
const BLOCK = 5000;

export interface ShownRows {
    /** a VOTable */
    readonly file: Blob;
    /** the table's row at each place of the file */
    readonly order: Uint32Array;
}

/** Write the shown rows in their order; a column `place`, if named, numbers them from 0. */
export async function writeShownRows(table: Table, place?: string): Promise<ShownRows> {
    const number: Field[] = place === undefined ? [] : [{ name: place, datatype: 'int', kind: 'number' }];
    const order = new Uint32Array(table.shown);
    const pieces: string[] = [];
    for (let from = 0; from < order.length; from += BLOCK) {
        const { rows, cells } = await table.readPage(from, Math.min(from + BLOCK, order.length));
        order.set(rows, from);
        pieces.push(cells.map((row, at) => writeRow(place === undefined ? row : [...row, from + at])).join(''));
    }
    return { file: filledVotable([...table.fields, ...number], pieces), order };
}
