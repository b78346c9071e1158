/** Stores the rows that a table shows as the result of a job, so that other programs have the same rows in the same order. */

import type { Table } from '../model/resultModel';
import { makeRowsUpload } from '../rows/rowsUpload';
import { addressOf } from '../tap/tapRequest';
import { createJob, fetchJob, isEnded, resultPath, setDestruction } from '../tap/uwsClient';
import { text } from '../text';

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
    const [order, upload] = await Promise.all([table.readOrder(), makeRowsUpload(table)]);
    const { id } = await createJob({ ...upload, files: { ...upload.files } });
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
