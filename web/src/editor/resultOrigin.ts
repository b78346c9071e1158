/** The query that a result comes from, and what has changed since. */

import { splitTokens } from '../adql/adqlTokens';
import type { Job } from '../tap/uwsClient';
import { count, text } from '../text';
import type { RunRequest } from './queryRun.svelte';

export interface ResultOrigin {
    /** the query that ran, and the whole text that it may have been a part of */
    readonly adql: string;
    readonly text: string;
    readonly maxrec: number | undefined;
    /** what the query read; undefined if they are no longer known */
    readonly files: Record<string, Blob> | undefined;
    /** it may be a part of the text */
    readonly isPart: boolean;
}

/** The query that a tab would run now. */
export interface PresentQuery {
    readonly adql: string;
    readonly maxrec: number | undefined;
    readonly sent: Record<string, Blob>;
}

export type Difference = 'text' | 'limit' | 'files';

export const originOfRun = ({ adql, text, maxrec, files }: RunRequest): ResultOrigin => ({
    ...{ adql, text, maxrec, files, isPart: text !== adql },
});

/** `isPart`: the job may have run a part of a text. */
export function originOfJob({ query, parameters }: Job, isPart: boolean): ResultOrigin {
    const limit = Number(parameters.find(([name]) => name.toUpperCase() === 'MAXREC')?.[1] ?? NaN);
    return { adql: query, text: query, maxrec: Number.isFinite(limit) ? limit : undefined, files: undefined, isPart };
}

/** Return the first difference that would give another result; undefined if there is none. */
export function findDifference(origin: ResultOrigin, now: PresentQuery): Difference | undefined {
    const isThere = origin.isPart && now.adql.includes(origin.adql.trim());
    if (!isThere && !areSameQueries(origin.adql, now.adql)) return 'text';
    if (origin.maxrec !== now.maxrec) return 'limit';
    const isReplaced = ([name, file]: [string, Blob]) => now.sent[name] && now.sent[name] !== file;
    return Object.entries(origin.files ?? {}).some(isReplaced) ? 'files' : undefined;
}

export const describeLimit = ({ maxrec }: ResultOrigin): string =>
    maxrec === undefined ? text.editor.stale.noLimit : text.editor.stale.limit(count(maxrec));

/** Say what has changed since a result. */
export function describeDifference(origin: ResultOrigin, difference: Difference): string {
    const texts = text.editor.stale;
    return difference === 'limit' ? texts.limitChanged(describeLimit(origin)) : texts.changed[difference];
}

/** Whether two queries differ in layout and comments alone. */
function areSameQueries(one: string, other: string): boolean {
    return one.trim() === other.trim() || wordsOf(one) === wordsOf(other);
}

const wordsOf = (adql: string): string =>
    splitTokens(adql)
        .filter(({ kind }) => kind !== 'comment')
        .map(({ text }) => text)
        .join('\n');
