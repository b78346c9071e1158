/** The estimate of a tab's query, requested a moment after the last key. */

import { estimateQuery, type EstimateRequest, type Estimate, type QueryError } from '../tap/estimateClient';

const MOMENT = 450;

/** Larger uploads are not sent for an estimate at every change. */
const MAX_BYTES = 2_000_000;

export class TabEstimate {
    /** of the text that was asked last; stale while `asking` */
    estimate = $state.raw<Estimate | undefined>();
    errors = $state.raw<readonly QueryError[]>([]);
    /** why there is no estimate */
    failure = $state('');
    asking = $state(false);
    /** row limits from the last estimate */
    maxrec = $state.raw<Estimate['maxrec'] | undefined>();
    /** the files are too large to send for an estimate */
    unasked = $state(false);
    #timer: ReturnType<typeof setTimeout> | undefined;
    #stop: AbortController | undefined;
    #answered: EstimateRequest | undefined;
    #version: number | undefined;

    /** Ask a moment later, unless the query changes again. `version` is the version of the catalogue. */
    askLater(asked: EstimateRequest, version: number): void {
        clearTimeout(this.#timer);
        this.#stop?.abort();
        const known = this.#answered && version === this.#version && areSameRequests(this.#answered, asked);
        this.#version = version;
        if (known) return void (this.asking = false);
        this.unasked = bytesOf(asked) > MAX_BYTES;
        this.asking = asked.query.trim() !== '' && !this.unasked;
        if (!this.asking) this.#takeAnswer({});
        else this.#timer = setTimeout(() => void this.#askService(asked), MOMENT);
    }

    /** Return the estimate of a query to run, from memory if it is current. Raises as `estimateQuery`. */
    async askNow(asked: EstimateRequest, signal: AbortSignal): ReturnType<typeof estimateQuery> {
        const there =
            !this.asking && this.#answered && areSameRequests(this.#answered, asked) ? this.estimate : undefined;
        return there ? { estimate: there } : estimateQuery(asked, signal);
    }

    close(): void {
        clearTimeout(this.#timer);
        this.#stop?.abort();
    }

    async #askService(asked: EstimateRequest): Promise<void> {
        const stop = new AbortController();
        this.#stop = stop;
        try {
            const answered = await estimateQuery(asked, stop.signal);
            if (!stop.signal.aborted) this.#takeAnswer(answered, asked);
        } catch (error) {
            if (!stop.signal.aborted) this.#takeAnswer({ failure: (error as Error).message });
        }
    }

    #takeAnswer(
        answer: { estimate?: Estimate; errors?: readonly QueryError[]; failure?: string },
        answered?: EstimateRequest | undefined,
    ): void {
        this.estimate = answer.estimate;
        this.maxrec = answer.estimate?.maxrec ?? this.maxrec;
        this.errors = answer.errors ?? [];
        this.failure = answer.failure ?? '';
        this.#answered = answered;
        this.asking = false;
    }
}

const bytesOf = ({ files = {} }: EstimateRequest): number =>
    Object.values(files).reduce((sum, file) => sum + file.size, 0);

function areSameRequests(one: EstimateRequest, other: EstimateRequest): boolean {
    const [files, others] = [Object.entries(one.files ?? {}), other.files ?? {}];
    const equal = files.length === Object.keys(others).length && files.every(([name, file]) => others[name] === file);
    return equal && one.query === other.query && one.maxrec === other.maxrec;
}

/** Whether the query needs a job: more time or more rows than /sync allows. */
export function shouldRunAsJob({ seconds, syncSeconds, maxrec }: Estimate, rows?: number): boolean {
    return (seconds !== null && seconds > syncSeconds) || (rows !== undefined && rows > maxrec.hard);
}
