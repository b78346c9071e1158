/** The exact number of rows that meet the filters, counted by the engine when a drag has ended. */

import { queryRows, toNumber } from '../tap/jsonRows';
import { isTooLong, loadEstimate, readResult } from './engineQuery.svelte';

export type CountState =
    | { readonly phase: 'counting' }
    | { readonly phase: 'exact'; readonly rows: number }
    /** counting takes longer than /tap/sync allows; seconds are null if unknown */
    | { readonly phase: 'long'; readonly seconds: number | null }
    | { readonly phase: 'failed'; readonly message: string };

export class ExactCount {
    state = $state.raw<CountState | undefined>();
    #stop: AbortController | undefined;

    /** Forget the number, and stop counting. */
    clear(): void {
        this.#stop?.abort();
        this.state = undefined;
    }

    setKnown(rows: number): void {
        this.clear();
        this.state = { phase: 'exact', rows };
    }

    /** Count with a query of one row; `asJob`: however long it takes. Return the number, unless superseded or unknown. */
    async countRows(query: string, asJob = false): Promise<number | undefined> {
        this.clear();
        const stop = (this.#stop = new AbortController());
        this.state = { phase: 'counting' };
        try {
            const found = await (asJob ? countAsJob(query, stop.signal) : countNow(query, stop.signal));
            if (stop.signal.aborted) return undefined;
            this.state = found;
            return found.phase === 'exact' ? found.rows : undefined;
        } catch (error) {
            if (!stop.signal.aborted) this.state = { phase: 'failed', message: (error as Error).message };
            return undefined;
        }
    }
}

async function countNow(query: string, signal: AbortSignal): Promise<CountState> {
    const estimate = await loadEstimate(query, signal);
    if (isTooLong(estimate)) return { phase: 'long', seconds: estimate.seconds };
    const { data } = await queryRows(query, { signal });
    return { phase: 'exact', rows: toNumber(data[0]?.[0]) };
}

async function countAsJob(query: string, signal: AbortSignal): Promise<CountState> {
    const read = { query, maxrec: 1 };
    const values = await readResult(read, (table) => table.readNumbers(0), signal);
    return { phase: 'exact', rows: values[0]! };
}
