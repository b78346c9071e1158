/** What a script needs to repeat the query of a result. */

import type { Source } from '../model/resultModel';
import { findQuery } from '../shares/sharedResult';
import { service } from '../tap/serviceInfo.svelte';
import { findElements, parseXml, TAP_ADDRESS } from '../tap/tapRequest';
import type { ScriptSource } from './queryScripts';
import { encodeUploads } from './scriptUploads';

export type QuerySource = Exclude<Source, { kind: 'file' }>;

/**
 * Describe the query of a result. Raises an Error if its uploads are gone or too large.
 *
 * `about`: the VOTable without rows that describes the result, '' if unknown; `share`: its permanent link, '' for none.
 */
export async function describeSource(source: QuerySource, about: string, share = ''): Promise<ScriptSource> {
    const { query, maxrec, files } = await findQuery(source);
    return {
        ...{ tap: TAP_ADDRESS, service: service.title, citations: citationsOf(about), share },
        ...{ date: new Date().toISOString(), query, maxrec, isJob: source.kind === 'job' },
        uploads: await encodeUploads(files),
    };
}

function citationsOf(votable: string): string[] {
    if (!votable) return [];
    return findElements(parseXml(votable), 'INFO')
        .filter((info) => info.getAttribute('name') === 'citation')
        .map((info) => info.getAttribute('value') ?? '');
}
