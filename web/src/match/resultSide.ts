/** An open result as a table of another query: its own query as a subquery, or its rows as an upload. */

import { isName, splitTokens } from '../adql/adqlTokens';
import type { OpenTable } from '../model/openTables.svelte';
import { fetchJob } from '../tap/uwsClient';

/** Words that make the rows of a subquery differ from those that are shown, or that it must not have. */
const UNSAFE = ['TOP', 'OFFSET', 'ORDER', 'WITH', 'TABLESAMPLE', 'RAND', 'TAP_UPLOAD', 'INTO'];

/** Whether a query can stand within another one and returns the same rows there. */
export function isPlainQuery(adql: string): boolean {
    const tokens = splitTokens(adql).filter(({ kind }) => kind !== 'comment');
    const last = tokens.at(-1)?.text === ';' ? tokens.slice(0, -1) : tokens;
    return (
        last[0]?.text === 'SELECT' &&
        !last.some(
            (token) =>
                token.kind === 'open' ||
                token.text === ';' ||
                ((isName(token) || token.kind === 'keyword') && UNSAFE.includes(token.text.toUpperCase())),
        )
    );
}

/** Write a query as a table of FROM, indented. */
export function writeSubquery(adql: string): string {
    const lines = adql.trim().replace(/;\s*$/, '').split('\n');
    return `(\n${lines.map((line) => `    ${line}`).join('\n')}\n)`;
}

/**
 * Return the query of a result if it returns the rows that are shown: complete, unfiltered, without uploads. Otherwise
 * undefined: its rows are uploaded.
 */
export async function subqueryOf({ table, source }: OpenTable): Promise<string | undefined> {
    const { state, filters, fields } = table;
    const names = new Set(fields.map(({ name }) => name.toLowerCase()));
    const isWhole = state.phase === 'complete' && state.overflow === undefined && filters.length === 0;
    if (!isWhole || names.size < fields.length || source.kind === 'file') return undefined;
    // the query of a job that is gone is unknown
    const query =
        source.kind === 'sync'
            ? source.query
            : await fetchJob(source.id).then(
                  (job) => job.query,
                  () => '',
              );
    return isPlainQuery(query) ? writeSubquery(query) : undefined;
}
