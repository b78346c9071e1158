/** From a result of the portal to a share, and from a share to results. */

import { equalIgnoringCase } from '../adql/adqlTokens';
import { namedUploads, uploadsOf } from '../adql/queryUploads';
import type { Source } from '../model/resultModel';
import { sharePath, type Share } from '../tap/shareClient';
import { addressOf } from '../tap/tapRequest';
import { fetchJob, runJobToEnd, type Job, type NewJob } from '../tap/uwsClient';
import { text } from '../text';
import { shareTexts } from '../text/shareTexts';

/** A query as it was run, with the uploads that it reads. */
export interface AskedQuery {
    readonly query: string;
    readonly maxrec?: number | undefined;
    readonly files: Record<string, Blob>;
}

type QuerySource = Exclude<Source, { kind: 'file' }>;

/** Return the query of a result. Raises Error if its uploads are no longer available. */
export async function findQuery(source: QuerySource): Promise<AskedQuery> {
    if (source.kind === 'job') return queryOfJob(await fetchJob(source.id), source.files);
    const { query, maxrec, files = {} } = source;
    return { query, maxrec, files: takeUploads(query, files, [...uploadsOf(query), ...Object.keys(files)]) };
}

/** Return the query of a job, with the uploads that this page still has. Raises Error without them. */
export function queryOfJob({ query, parameters }: Job, files: Record<string, Blob> = {}): AskedQuery {
    const valuesOf = (wanted: string): string[] =>
        parameters.filter(([name]) => name.toUpperCase() === wanted).map(([, value]) => value);
    const limit = Number(valuesOf('MAXREC')[0] ?? NaN);
    const sent = valuesOf('UPLOAD').map((value) => value.split(',')[0]!);
    return { query, maxrec: Number.isFinite(limit) ? limit : undefined, files: takeUploads(query, files, sent) };
}

/** Return the files of these names that the query reads. Raises Error if one is not here. */
function takeUploads(
    query: string,
    files: Readonly<Record<string, Blob>>,
    names: readonly string[],
): Record<string, Blob> {
    const here = Object.entries(files);
    const found = names.map((name) => [name, here.find(([own]) => equalIgnoringCase(own, name))] as const);
    const named = Object.values(namedUploads(query, Object.fromEntries(found)));
    if (named.some((file) => !file)) throw new Error(text.results.scripts.uploadsGone);
    return Object.fromEntries(named as [string, Blob][]);
}

/** Run a query as a job that notes its checksum. Raises Error with the service's reason. */
export function runChecked({ query, maxrec, files }: AskedQuery, signal: AbortSignal): Promise<Job> {
    const wanted: NewJob = { query, files, format: 'votable', checksum: true, ...(maxrec !== undefined && { maxrec }) };
    return runJobToEnd(wanted, signal);
}

/** Return the stored rows of a share as a result, with the uploads of its query. */
export function sourceOfShare({ id, url, query, maxrec, result }: Share, files: Record<string, Blob>): Source {
    const rows = addressOf(`${sharePath(id)}/result`);
    return { kind: 'sync', query, maxrec, files, ...(result && { share: { address: url, rows } }) };
}

/** What a caption says of the data: rows, tables with the day of their version, address. */
export function captionOf({ rows, tables, url, checksum }: Share, service: string): string {
    const of = Object.entries(tables).map(([name, { changed }]) =>
        changed ? `${name} (${changed.slice(0, 10)})` : name,
    );
    return shareTexts.caption(service, rows, of.join(', '), url, checksum.slice(0, 16));
}
