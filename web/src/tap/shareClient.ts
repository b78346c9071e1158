/** Shares, /tap/shares: docs/shares.md. Functions raise TapError. */

import { askService, multipartForm, formValues } from './tapRequest';
import type { Job } from './uwsClient';

export interface TableVersion {
    /** '' if unknown */
    readonly version: string;
    /** ISO 8601 */
    readonly changed: string | null;
    readonly rows: number | null;
}

export interface Share {
    readonly id: string;
    readonly url: string;
    readonly title: string;
    readonly note: string;
    /** ISO 8601 */
    readonly created: string;
    /** the user's name if readers may see it */
    readonly creator: string | null;
    readonly expires: string;
    readonly query: string;
    readonly maxrec: number;
    readonly rows: number;
    readonly overflow: boolean;
    readonly checksum: string;
    readonly tables: Readonly<Record<string, TableVersion>>;
    readonly uploads: Readonly<Record<string, { readonly url: string; readonly bytes: number }>>;
    /** names of the uploads that the query reads and that are not kept */
    readonly omitted: readonly string[];
    /** null after the rows have been deleted */
    readonly result: { readonly url: string; readonly bytes: number; readonly expires: string } | null;
    /** as the creator gave it; '' for none */
    readonly layout: string;
    readonly bibtex: string;
}

export interface CreatedShare extends Share {
    /** with which an anonymous creator can delete it; '' for users */
    readonly key: string;
}

/** An entry of the user's list. */
export interface ListedShare {
    readonly id: string;
    readonly title: string;
    readonly created: string;
    readonly expires: string;
    readonly query: string;
    readonly rows: number;
    readonly bytes: number;
    readonly kept: boolean;
}

export interface VersionCheck {
    readonly same: boolean;
    readonly tables: Readonly<
        Record<string, { readonly same: boolean; readonly then: TableVersion; readonly now: TableVersion | null }>
    >;
}

export interface NewShare {
    /** a completed job with a checksum */
    readonly job: Job;
    /** the uploads that are kept, by table */
    readonly files: Readonly<Record<string, Blob>>;
    /** names of the uploads that are not */
    readonly omitted: readonly string[];
    readonly title: string;
    readonly note: string;
    readonly named: boolean;
    readonly layout: string;
}

export async function createShare(share: NewShare): Promise<CreatedShare> {
    const { job, files, omitted, title, note, named, layout } = share;
    const about = { TITLE: title, NOTE: note, NAMED: String(named), LAYOUT: layout };
    const values = formValues({ JOB: job.id, ...about, OMIT: omitted.join(',') || undefined });
    const parts = jobParts(job, files);
    const body = Object.keys(parts).length ? multipartForm(values, parts) : values;
    return (await (await askService('shares', { method: 'POST', body })).json()) as CreatedShare;
}

/** Return files by the names that their parts had with the job. */
function jobParts({ parameters }: Job, files: Readonly<Record<string, Blob>>): Record<string, Blob> {
    const uploads = parameters.filter(([name]) => name.toUpperCase() === 'UPLOAD').map(([, value]) => value.split(','));
    const sent = uploads.filter(([name]) => name! in files);
    return Object.fromEntries(sent.map(([name, address]) => [address!.replace(/^param:/, ''), files[name!]!]));
}

export async function fetchShare(id: string): Promise<Share> {
    return (await (await askService(sharePath(id))).json()) as Share;
}

/** Compare the versions of its tables with their current versions. */
export async function checkVersions(id: string): Promise<VersionCheck> {
    return (await (await askService(`${sharePath(id)}/check`)).json()) as VersionCheck;
}

/** Fetch the tables that the query uploads. */
export async function fetchUploads({ id, uploads }: Share): Promise<Record<string, Blob>> {
    const names = Object.keys(uploads);
    const blobs = names.map(async (name) =>
        (await askService(`${sharePath(id)}/uploads/${encodeURIComponent(name)}`)).blob(),
    );
    const found = await Promise.all(blobs);
    return Object.fromEntries(names.map((name, at) => [name, found[at]!]));
}

export async function listShares(): Promise<readonly ListedShare[]> {
    return (await (await askService('shares')).json()) as ListedShare[];
}

/** `key`: the key of an anonymous share. */
export async function deleteShare(id: string, key = ''): Promise<void> {
    await askService(`${sharePath(id)}${key && `?${formValues({ KEY: key })}`}`, { method: 'DELETE' });
}

/** Path of a share below /tap. */
export const sharePath = (id: string): string => `shares/${encodeURIComponent(id)}`;
