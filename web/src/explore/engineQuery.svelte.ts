/** Queries of the panels: at once if the estimate allows, else as a job; cancelled when they are superseded. */

import { loadPart } from '../browser/pagePart';
import type { Table } from '../model/resultModel';
import { estimateQuery, type Estimate } from '../tap/estimateClient';
import { runJobToEnd } from '../tap/uwsClient';
import { exploreTexts } from '../text/exploreTexts';

/** Return the estimate of a query. Raises Error with its first error. */
export async function loadEstimate(query: string, signal: AbortSignal, maxrec?: number): Promise<Estimate> {
    const answer = await estimateQuery({ query, maxrec }, signal);
    if ('errors' in answer) throw new Error(answer.errors[0]?.message ?? '');
    return answer.estimate;
}

/** Whether /tap/sync will not finish a query in its time. */
export const isTooLong = ({ workClass }: Estimate): boolean => workClass === 'long' || workClass === 'very long';

/**
 * Run a query, and return what `read` takes from its whole result. `onJob` is called if it runs as a job. Raises Error
 * with a sentence, also if the row limit has cut the result; AbortError if aborted.
 */
export async function readResult<Value>(
    { query, maxrec }: { readonly query: string; readonly maxrec: number },
    read: (table: Table) => Promise<Value>,
    signal: AbortSignal,
    onJob: () => void = () => undefined,
): Promise<Value> {
    const asJob = isTooLong(await loadEstimate(query, signal, maxrec));
    if (asJob) onJob();
    const { openTable } = await loadPart(() => import('../rows/workerTable.svelte'));
    const job = asJob ? (await runJobToEnd({ query, maxrec }, signal)).id : '';
    signal.throwIfAborted();
    const table = openTable(asJob ? { kind: 'job', id: job } : { kind: 'sync', query, maxrec, isUnasked: true });
    try {
        await waitForRows(table, signal);
        return await read(table);
    } finally {
        table.close();
    }
}

/** Wait until a table is whole. Raises Error otherwise. */
function waitForRows(table: Table, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
        const stop = (): void => {
            table.stop();
            settle(() => reject(signal.reason as Error));
        };
        const settle = (outcome: () => void): void => {
            signal.removeEventListener('abort', stop);
            // not within the effect that it ends
            queueMicrotask(end);
            outcome();
        };
        const end = $effect.root(() => {
            $effect(() => {
                const { state } = table;
                if (state.phase === 'failed') settle(() => reject(new Error(state.message)));
                else if (state.phase === 'complete')
                    settle(() => (state.overflow === undefined ? resolve() : reject(new Error(exploreTexts.cut))));
            });
        });
        signal.addEventListener('abort', stop);
    });
}
