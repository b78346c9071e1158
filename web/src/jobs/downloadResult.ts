/** Downloads of a job's result. */

import { saveFile } from '../browser/saveFile';
import { credentials } from '../tap/credentials.svelte';
import { resultPath, type Job } from '../tap/uwsClient';
import { addressOf, askService } from '../tap/tapRequest';

/** Save a job's stored result. Raises TapError. */
export async function downloadResult(job: Job): Promise<void> {
    // a link sends no credentials, but lets the browser write to disk at once; jobs without an owner need none
    if (!job.owner || !credentials.header) return followLink(addressOf(resultPath(job.id)));
    const answer = await askService(resultPath(job.id));
    const name = /filename="([^"]+)"/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1] ?? 'result';
    saveFile(await answer.blob(), name);
}

function followLink(address: string): void {
    const link = document.createElement('a');
    [link.href, link.download] = [address, ''];
    link.click();
}
