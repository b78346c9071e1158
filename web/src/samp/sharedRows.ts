/** Stores the rows that a table shows as the result of a job, so that other programs have the same rows in the same order. */

import { makeUnique, quoteName } from '../adql/adqlNames';
import type { Field, Table } from '../model/resultModel';
import { filledVotable, writeRow } from '../model/votableText';
import { addressOf } from '../tap/tapRequest';
import { createJob, fetchJob, isEnded, resultPath, setDestruction } from '../tap/uwsClient';
import { text } from '../text';

/** Larger tables are not uploaded for this. */
export const MAX_SHARED_ROWS = 500_000;
const BLOCK = 5000;
/** Seconds that a request for the job's phase waits. */
const WAIT = 30;
const KEPT_MS = 86_400_000;

export interface SharedRows {
    /** where other programs fetch the rows as a VOTable */
    readonly url: string;
    /** the table's row at each place of that VOTable */
    readonly order: Uint32Array;
}

/** Upload the shown rows and keep them as the result of a job, for a day. Raises Error with a sentence. */
export async function shareRows(table: Table): Promise<SharedRows> {
    const names = table.fields.map(({ name }) => name);
    const place = makeUnique('row_number', names);
    const number: Field = { name: place, datatype: 'int', kind: 'number' };
    const order = new Uint32Array(table.shown);
    const pieces: string[] = [];
    for (let from = 0; from < order.length; from += BLOCK) {
        const { rows, cells } = await table.readPage(from, Math.min(from + BLOCK, order.length));
        order.set(rows, from);
        pieces.push(cells.map((row, at) => writeRow([...row, from + at])).join(''));
    }
    const file = filledVotable([...table.fields, number], pieces);
    // an upload has no order of its own
    const query = `SELECT ${names.map(quoteName).join(', ')}\nFROM TAP_UPLOAD.shown\nORDER BY ${quoteName(place)}`;
    const { id } = await createJob({ query, maxrec: Math.max(order.length, 1), files: { shown: file } });
    await waitForResult(id);
    await setDestruction(id, Date.now() + KEPT_MS);
    return { url: addressOf(resultPath(id)), order };
}

async function waitForResult(id: string): Promise<void> {
    for (;;) {
        const { phase, error } = await fetchJob(id, WAIT);
        if (phase === 'COMPLETED') return;
        if (isEnded(phase)) throw new Error(error?.message ?? text.samp.notStored);
    }
}
