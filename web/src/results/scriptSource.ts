/** What a script needs to repeat the query of a result. */

import type { Source } from '../model/resultModel';
import { service } from '../tap/serviceInfo.svelte';
import { findElements, parseXml, TAP_ADDRESS } from '../tap/tapRequest';
import { fetchJob } from '../tap/uwsClient';
import { text } from '../text';
import type { ScriptSource } from './queryScripts';

const texts = text.results.scripts;
/** Larger files are not written into scripts. */
const MAX_UPLOAD = 5_000_000;

export type QuerySource = Exclude<Source, { kind: 'file' }>;

/** Describe the query of a result; `about` is the VOTable without rows that describes it, '' if unknown. */
export async function describeSource(source: QuerySource, about: string): Promise<ScriptSource> {
    const common = {
        ...{ tap: TAP_ADDRESS, service: service.title, citations: citationsOf(about) },
        date: new Date().toISOString(),
    };
    if (source.kind === 'sync') {
        const { query, maxrec, files = {} } = source;
        return { ...common, query, maxrec, isJob: false, uploads: await encodeFiles(files) };
    }
    const { query, parameters } = await fetchJob(source.id);
    const limit = Number(parameters.find(([name]) => name.toUpperCase() === 'MAXREC')?.[1] ?? NaN);
    if (parameters.some(([name]) => name.toUpperCase() === 'UPLOAD')) throw new Error(texts.uploadsGone);
    return { ...common, query, maxrec: Number.isFinite(limit) ? limit : undefined, isJob: true, uploads: {} };
}

function citationsOf(votable: string): string[] {
    if (!votable) return [];
    return findElements(parseXml(votable), 'INFO')
        .filter((info) => info.getAttribute('name') === 'citation')
        .map((info) => info.getAttribute('value') ?? '');
}

async function encodeFiles(files: Readonly<Record<string, Blob>>): Promise<Record<string, string>> {
    const size = Object.values(files).reduce((sum, file) => sum + file.size, 0);
    if (size > MAX_UPLOAD) throw new Error(texts.largeUploads);
    const encoded = Object.entries(files).map(async ([name, file]) => {
        const bytes = new Uint8Array(await file.arrayBuffer());
        const words = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
        return [name, btoa(words)] as const;
    });
    return Object.fromEntries(await Promise.all(encoded));
}
