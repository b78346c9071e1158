/** Shares, /tap/shares: docs/shares.md. Functions raise TapError. */

import { askService, multipartForm, formValues, queryForm } from './tapRequest';

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
    /** null when the rows are kept no more */
    readonly result: { readonly url: string; readonly bytes: number; readonly expires: string } | null;
    /** as it was given; '' for none */
    readonly layout: string;
    readonly bibtex: string;
}

export interface NewShare extends Share {
    /** with which an anonymous maker can delete it; '' for users */
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

export interface ShareWish {
    /** a completed job with a checksum */
    readonly job: string;
    /** the uploads that it had, by table */
    readonly files: Record<string, Blob>;
    readonly title: string;
    readonly note: string;
    readonly named: boolean;
    readonly layout: string;
}

export async function createShare({ job, files, title, note, named, layout }: ShareWish): Promise<NewShare> {
    const values = formValues({ JOB: job, TITLE: title, NOTE: note, NAMED: String(named), LAYOUT: layout });
    // the parts have the names that they had with the job
    const parts = queryForm({}, files).files;
    const body = Object.keys(parts).length ? multipartForm(values, parts) : values;
    return (await (await askService('shares', { method: 'POST', body })).json()) as NewShare;
}

export async function fetchShare(id: string): Promise<Share> {
    return (await (await askService(sharePath(id))).json()) as Share;
}

/** Compare the versions of its tables with what they are now. */
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

/** `key`: that of an anonymous share. */
export async function deleteShare(id: string, key = ''): Promise<void> {
    await askService(`${sharePath(id)}${key && `?${formValues({ KEY: key })}`}`, { method: 'DELETE' });
}

/** Path of a share below /tap. */
export const sharePath = (id: string): string => `shares/${encodeURIComponent(id)}`;
