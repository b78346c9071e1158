/** Stores the rows that a table shows as the result of a job, so that other programs have the same rows in the same order. */

import type { Table } from '../model/resultModel';
import { makeRowsUpload } from '../rows/rowsUpload';
import { addressOf } from '../tap/tapRequest';
import { resultPath, runJobToEnd, setDestruction } from '../tap/uwsClient';

const KEPT_MS = 86_400_000;

export interface SharedRows {
    /** where other programs fetch the rows as a VOTable */
    readonly url: string;
    /** the table's row at each index of that VOTable */
    readonly order: Uint32Array;
}

/** Upload the shown rows and keep them as the result of a job, for a day. Raises Error with a sentence. */
export async function shareRows(table: Table): Promise<SharedRows> {
    const [order, upload] = await Promise.all([table.readOrder(), makeRowsUpload(table)]);
    const { id } = await runJobToEnd({ ...upload, files: { ...upload.files } });
    await setDestruction(id, Date.now() + KEPT_MS);
    return { url: addressOf(resultPath(id)), order };
}
