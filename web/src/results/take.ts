/** A result as a file: asked for again in another format, or as a job has stored it. */

import { addressOf, ask, form, multipart } from '../tap/service';
import { resultAt } from '../tap/jobs';
import { save } from '../handover';
import { extensionOf, type Format } from './formats';
import type { Source } from './model';
import { fileName } from './write';

type Asked = Extract<Source, { kind: 'sync' }>;

/** The form of a query at /tap/sync or of its job, with its files under names of their own. */
export function asked(source: Asked, format: string): { values: [string, string][]; files: Record<string, Blob> } {
    const limit = source.maxrec === undefined ? undefined : String(source.maxrec);
    const values = [...form({ LANG: 'ADQL', FORMAT: format, QUERY: source.query, MAXREC: limit })] as [
        string,
        string,
    ][];
    // a table may be called like a parameter
    const entries = Object.entries(source.files ?? {}).map(([name, file], at) => ({ name, part: `file${at}`, file }));
    for (const { name, part } of entries) values.push(['UPLOAD', `${name},param:${part}`]);
    return { values, files: Object.fromEntries(entries.map(({ part, file }) => [part, file])) };
}

/** Ask for the query's result in a format and have the browser save it. Raises TapError. */
export async function download(source: Asked, format: Format, title: string, signal: AbortSignal): Promise<void> {
    const { values, files } = asked(source, format.word);
    const body = Object.keys(files).length
        ? multipart(new URLSearchParams(values), files)
        : new URLSearchParams(values);
    const answer = await ask('sync', { method: 'POST', body, signal });
    save(await answer.blob(), fileName(title, format.extension));
}

/** Have the browser save what a job has stored. Raises TapError. */
export async function downloadStored(id: string, title: string, signal: AbortSignal): Promise<void> {
    const answer = await ask(resultAt(id), { signal });
    const mime = answer.headers.get('Content-Type') ?? '';
    save(await answer.blob(), fileName(title, extensionOf(mime)));
}

/** The longest address that is sent to other programs. */
const LONGEST = 6000;

/** Where other programs fetch the result as a VOTable; undefined if there is no such place (files, long queries). */
export function votableAddress(source: Source): string | undefined {
    if (source.kind === 'job') return addressOf(resultAt(source.id));
    if (source.kind === 'file' || Object.keys(source.files ?? {}).length) return undefined;
    const { values } = asked(source, 'votable');
    const url = `${addressOf('sync')}?${new URLSearchParams(values)}`;
    return url.length <= LONGEST ? url : undefined;
}
