/** A job's result to a file. */

import { saveFile } from '../browser/saveFile';
import { credentials } from '../tap/credentials.svelte';
import { resultAt, type Job } from '../tap/uwsClient';
import { addressOf, ask } from '../tap/tapRequest';

/** Save a job's result as it is stored. Raises TapError. */
export async function download(job: Job): Promise<void> {
    // a link sends no credentials; without an owner it needs none, and the browser writes to the disk at once
    if (!job.owner || !credentials.header) return followed(addressOf(resultAt(job.id)));
    const answer = await ask(resultAt(job.id));
    const name = /filename="([^"]+)"/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1] ?? 'result';
    saveFile(await answer.blob(), name);
}

function followed(address: string): void {
    const link = document.createElement('a');
    [link.href, link.download] = [address, ''];
    link.click();
}
