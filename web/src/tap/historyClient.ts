/** The queries of the signed-in user from all programs, /tap/history: docs/async.md. Functions raise TapError. */

import { askService, formValues } from './tapRequest';

/** A query that has ended. */
export interface AccountQuery {
    readonly id: string;
    /** null for a query by /sync; a job may be deleted */
    readonly jobId: string | null;
    /** ISO 8601 */
    readonly created: string;
    readonly seconds: number;
    /** GONE: the client left */
    readonly status: 'OK' | 'OVERFLOW' | 'REUSED' | 'ERROR' | 'ABORTED' | 'GONE';
    readonly rows: number;
    readonly runId: string;
    readonly query: string;
    /** the query was too long; only its beginning is kept */
    readonly isCut: boolean;
    readonly error: string;
}

export interface HistoryPage {
    /** the newest first */
    readonly queries: readonly AccountQuery[];
    readonly limits: { readonly queries: number; readonly days: number };
    /** address of the next page; null at the end */
    readonly next: string | null;
}

/** Instants are milliseconds since 1970, exclusive. */
export interface HistorySearch {
    readonly words?: string | undefined;
    readonly after?: number | undefined;
    readonly before?: number | undefined;
    /** queries of a page */
    readonly last: number;
}

export async function listHistory({ words, after, before, last }: HistorySearch): Promise<HistoryPage> {
    const asInstant = (at?: number) => (at === undefined ? undefined : new Date(at).toISOString());
    const asked = { SEARCH: words, AFTER: asInstant(after), BEFORE: asInstant(before), LAST: last };
    return fetchPage(`?${formValues(asked)}`);
}

/** `next`: of the page before. */
export const listMoreHistory = (next: string): Promise<HistoryPage> => fetchPage(new URL(next).search);

/** Delete the query history of the user; jobs are kept. */
export async function forgetHistory(): Promise<void> {
    await askService('history', { method: 'DELETE' });
}

async function fetchPage(search: string): Promise<HistoryPage> {
    return (await (await askService(`history${search}`)).json()) as HistoryPage;
}
