/** The queries of the signed-in user, of all programs: found by the service, page by page. */

import { forgetHistory, listHistory, listMoreHistory, type AccountQuery, type HistoryPage } from '../tap/historyClient';
import { Attempt } from '../ui/attempt.svelte';
import { boundsOf, type HistoryFilter } from './historySearch';
import type { HistoryEntry } from './queryHistory.svelte';

const AT_ONCE = 50;
/** milliseconds after the last key */
const PAUSE = 350;

export class AccountQueries {
    /** undefined until the service has answered */
    entries = $state.raw<readonly HistoryEntry[]>();
    limits = $state.raw<HistoryPage['limits']>();
    readonly attempt = new Attempt();
    #next = $state<string | null>(null);
    /** of the last search: answers to earlier ones come too late */
    #search = 0;

    /** Whether there are older queries that the search finds. */
    get hasMore(): boolean {
        return this.#next !== null;
    }

    /** Ask after a pause, the first time at once. Return the function that stops it. */
    askLater(filter: HistoryFilter): () => void {
        const timer = setTimeout(() => void this.#ask(filter), this.#search ? PAUSE : 0);
        return () => clearTimeout(timer);
    }

    async loadMore(): Promise<void> {
        const next = this.#next;
        if (next !== null) await this.#loadPage(this.#search, () => listMoreHistory(next), this.entries);
    }

    /** Forget all queries at the service. Raises TapError. */
    async forgetAll(): Promise<void> {
        await forgetHistory();
        this.#search += 1;
        [this.entries, this.#next] = [[], null];
    }

    async #ask(filter: HistoryFilter): Promise<void> {
        this.#search += 1;
        const { first, end } = boundsOf(filter);
        // both bounds are exclusive
        const asked = { after: first === undefined ? undefined : first - 1, before: end };
        const words = filter.words.trim() || undefined;
        await this.#loadPage(this.#search, () => listHistory({ ...asked, words, last: AT_ONCE }));
    }

    async #loadPage(
        search: number,
        load: () => Promise<HistoryPage>,
        before: readonly HistoryEntry[] = [],
    ): Promise<void> {
        await this.attempt.doWork(async () => {
            const page = await load().catch((error: unknown) => {
                if (search === this.#search) throw error;
            });
            if (!page || search !== this.#search) return;
            const { queries, limits, next } = page;
            [this.entries, this.limits, this.#next] = [[...before, ...queries.map(entryOf)], limits, next];
        });
    }
}

/** Return a query of the service as the entry of a history. */
export function entryOf(from: AccountQuery): HistoryEntry {
    const { id, query, runId, jobId, created, status, rows, seconds, error, isCut } = from;
    const state = stateOf(status);
    return {
        ...{ id, adql: query, title: runId, at: Date.parse(created), mode: jobId === null ? 'sync' : 'async' },
        ...{ state, seconds, cut: status === 'OVERFLOW', shortened: isCut },
        ...(state === 'complete' && { rows }),
        ...(error && { message: error }),
        ...(jobId !== null && { job: jobId }),
    };
}

function stateOf(status: AccountQuery['status']): HistoryEntry['state'] {
    if (status === 'ERROR') return 'failed';
    return status === 'ABORTED' || status === 'GONE' ? 'stopped' : 'complete';
}
