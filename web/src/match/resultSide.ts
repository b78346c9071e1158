/** An open result as a table of another query: its own query as a subquery, or its rows as an upload. */

import type { OpenTable } from '../model/openTables.svelte';
import { fetchJob } from '../tap/uwsClient';
import { isPlainQuery, writeSubquery } from './plainQuery';

/**
 * Return the query of a result if it returns the rows that are shown: complete, unfiltered, without uploads and computed
 * columns. Otherwise undefined: its rows are uploaded. The rows of a share are of an earlier day.
 */
export async function subqueryOf({ table, source }: OpenTable): Promise<string | undefined> {
    const { state, filters, fields, computed } = table;
    const names = new Set(fields.map(({ name }) => name.toLowerCase()));
    const isWhole =
        state.phase === 'complete' && state.overflow === undefined && filters.length + computed.length === 0;
    if (!isWhole || names.size < fields.length || source.kind === 'file') return undefined;
    if (source.kind === 'sync' && source.share) return undefined;
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
