/** Downloads of a result: requested again in another format, or as stored by the job. */

import { addressOf, askService, formValues, queryBody } from '../tap/tapRequest';
import { resultPath } from '../tap/uwsClient';
import { fileName, saveFile } from '../browser/saveFile';
import { extensionOf, type ServiceFormat } from './serviceFormats';
import type { Source } from '../model/resultModel';

type Asked = Extract<Source, { kind: 'sync' }>;

/** Request the query's result in a format and let the browser save it. Raises TapError. */
export async function downloadAs(
    source: Asked,
    format: ServiceFormat,
    title: string,
    signal: AbortSignal,
): Promise<void> {
    const body = queryBody({ FORMAT: format.word, QUERY: source.query, MAXREC: source.maxrec }, source.files);
    const answer = await askService('sync', { method: 'POST', body, signal });
    saveFile(await answer.blob(), fileName(title, format.extension));
}

/** Let the browser save a job's stored result. Raises TapError. */
export async function downloadStored(id: string, title: string, signal: AbortSignal): Promise<void> {
    const answer = await askService(resultPath(id), { signal });
    const mime = answer.headers.get('Content-Type') ?? '';
    saveFile(await answer.blob(), fileName(title, extensionOf(mime)));
}

/** The longest address that is sent to other programs. */
const MAX_ADDRESS = 6000;

/**
 * Return the address from which other programs can fetch the result as a VOTable; undefined with uploads and for long
 * queries.
 */
export function votableAddress(source: Source): string | undefined {
    if (source.kind === 'job') return addressOf(resultPath(source.id));
    if (source.kind === 'file' || Object.keys(source.files ?? {}).length) return undefined;
    const values = formValues({ LANG: 'ADQL', FORMAT: 'votable', QUERY: source.query, MAXREC: source.maxrec });
    const url = `${addressOf('sync')}?${values}`;
    return url.length <= MAX_ADDRESS ? url : undefined;
}
