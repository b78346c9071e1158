/** A job's address to the clipboard, and its result to a file. */

import { credentials } from '../tap/credentials.svelte';
import { resultAt, type Job } from '../tap/jobs';
import { addressOf, ask } from '../tap/service';

/** False where the browser does not let pages write to the clipboard (pages without TLS). */
export async function copied(words: string): Promise<boolean> {
    try {
        await navigator.clipboard.writeText(words);
        return true;
    } catch {
        return false;
    }
}

/** Save a job's result as it is stored. Raises TapError. */
export async function download(job: Job): Promise<void> {
    // a link sends no credentials; without an owner it needs none, and the browser writes to the disk at once
    if (!job.owner || !credentials.header) return save(addressOf(resultAt(job.id)));
    const answer = await ask(resultAt(job.id));
    const name = /filename="([^"]+)"/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1] ?? 'result';
    const address = URL.createObjectURL(await answer.blob());
    save(address, name);
    // the browser has taken hold of it long before
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function save(address: string, name = ''): void {
    const link = document.createElement('a');
    [link.href, link.download] = [address, name];
    link.click();
}
