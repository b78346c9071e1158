/** From a result of the portal to a share, and from a share to results. */

import type { Source } from '../model/resultModel';
import { sharePath, type Share } from '../tap/shareClient';
import { addressOf } from '../tap/tapRequest';
import { fetchJob, runJobToEnd, type Job, type NewJob } from '../tap/uwsClient';
import { text } from '../text';

/** A query as it was run. */
export interface AskedQuery {
    readonly query: string;
    readonly maxrec?: number | undefined;
    readonly files: Record<string, Blob>;
}

type QuerySource = Exclude<Source, { kind: 'file' }>;

/** Return the query of a result. Raises Error if a job's uploads are not here any more. */
export async function findQuery(source: QuerySource): Promise<AskedQuery> {
    if (source.kind === 'sync') return { query: source.query, maxrec: source.maxrec, files: source.files ?? {} };
    return queryOfJob(await fetchJob(source.id), source.files);
}

/** Return the query of a job, with the uploads that this page still has. Raises Error without them. */
export function queryOfJob({ query, parameters }: Job, files: Record<string, Blob> = {}): AskedQuery {
    const valuesOf = (wanted: string): string[] =>
        parameters.filter(([name]) => name.toUpperCase() === wanted).map(([, value]) => value);
    const limit = Number(valuesOf('MAXREC')[0] ?? NaN);
    const needed = valuesOf('UPLOAD').map((value) => value.split(',')[0]!);
    if (needed.some((name) => !(name in files))) throw new Error(text.results.scripts.uploadsGone);
    const sent = Object.fromEntries(needed.map((name) => [name, files[name]!]));
    return { query, maxrec: Number.isFinite(limit) ? limit : undefined, files: sent };
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
    return text.shares.caption(service, rows, of.join(', '), url, checksum.slice(0, 16));
}
