/** The user's watches, /tap/watches: docs/watchlists.md. Functions raise TapError. */

import { jsonRequest } from './accountClient';
import { askService } from './tapRequest';

export type RunState = 'WAITING' | 'RUNNING' | 'DONE' | 'FAILED' | 'MISSED';

export interface WatchDelivery {
    readonly state: 'PENDING' | 'DELIVERED' | 'GIVEN_UP';
    readonly attempts: number;
    readonly error: string | null;
}

/** The run of a watch on one addition to its table. */
export interface WatchRun {
    readonly addition: number;
    /** ISO 8601 */
    readonly added: string;
    /** null until it is done */
    readonly added_rows: number | null;
    readonly state: RunState;
    readonly since: string;
    readonly rows: number;
    readonly job: string | null;
    readonly error: string | null;
    readonly deliveries: Readonly<Record<string, WatchDelivery>>;
}

export interface Watch {
    readonly id: string;
    readonly name: string;
    /** the watched table */
    readonly table: string;
    /** `mydb.name`: the table of its results */
    readonly result: string;
    readonly query: string;
    readonly webhook: string | null;
    readonly mail: boolean;
    readonly state: 'active' | 'paused';
    readonly created: string;
    readonly rows: number;
    readonly runs_done: number;
    readonly last_run: string | null;
    readonly last_error: string | null;
    /** the newest first */
    readonly runs: readonly WatchRun[];
}

/** A watch with the key of its webhook's signatures, which the service sends only once; null without a webhook. */
export interface CreatedWatch extends Watch {
    readonly secret: string | null;
}

export interface WatchOverview {
    readonly limits: { readonly watches: number; readonly rows: number; readonly days: number };
    /** the address for mails; null if the service sends none */
    readonly mail: string | null;
    readonly webhooks: boolean;
    readonly watches: readonly Watch[];
}

export interface NewWatch {
    readonly name: string;
    /** '' for a list of positions */
    readonly query: string;
    readonly table: string;
    /** `mydb.name` of positions; '' for a query */
    readonly list: string;
    /** in arcseconds */
    readonly radius: number;
    readonly webhook: string;
    readonly mail: boolean;
}

export async function listWatches(): Promise<WatchOverview> {
    return (await (await askService('watches')).json()) as WatchOverview;
}

export async function createWatch(watch: NewWatch): Promise<CreatedWatch> {
    const { query, table, list, radius, ...others } = watch;
    const looksFor = list ? { list, table, radius } : { query, ...(table ? { table } : {}) };
    const answer = await askService('watches', jsonRequest('POST', { ...others, ...looksFor }));
    return (await answer.json()) as CreatedWatch;
}

/** `run` retries failed runs and messages. */
export async function changeWatch(id: string, action: 'pause' | 'resume' | 'run'): Promise<Watch> {
    return (await (await askService(watchPath(id), jsonRequest('POST', { action }))).json()) as Watch;
}

export async function removeWatch(id: string): Promise<void> {
    await askService(watchPath(id), { method: 'DELETE' });
}

const watchPath = (id: string): string => `watches/${encodeURIComponent(id)}`;
