/** What the service foresees of a tab's query, asked a moment after the last key. */

import { estimate, type Asked, type Estimate, type QueryFault } from '../tap/queryEstimate';

const MOMENT = 450;

/** Files larger than this in all are not sent for an estimate at every change. */
const MOST_BYTES = 2_000_000;

export class Foreseen {
    /** of the text that was asked last; stale while `asking` */
    estimate = $state.raw<Estimate | undefined>();
    faults = $state.raw<readonly QueryFault[]>([]);
    /** why nothing could be foreseen: the service does not answer, or will not */
    trouble = $state('');
    asking = $state(false);
    /** row limits, as they were told last */
    maxrec = $state.raw<Estimate['maxrec'] | undefined>();
    /** the files are too large to be sent for this alone */
    unasked = $state(false);
    #timer: ReturnType<typeof setTimeout> | undefined;
    #stop: AbortController | undefined;
    #answered: Asked | undefined;
    #version: number | undefined;

    /** Ask a moment later, unless the query changes again. `version` is of the tables that it may use. */
    later(asked: Asked, version: number): void {
        clearTimeout(this.#timer);
        this.#stop?.abort();
        const known = this.#answered && version === this.#version && same(this.#answered, asked);
        this.#version = version;
        if (known) return void (this.asking = false);
        this.unasked = bytesOf(asked) > MOST_BYTES;
        this.asking = asked.query.trim() !== '' && !this.unasked;
        if (!this.asking) this.#told({});
        else this.#timer = setTimeout(() => void this.#ask(asked), MOMENT);
    }

    /** The estimate of a query that is to run: the one that is there if it is of the same text. Raises as `estimate`. */
    async now(asked: Asked, signal: AbortSignal): ReturnType<typeof estimate> {
        const there = !this.asking && this.#answered && same(this.#answered, asked) ? this.estimate : undefined;
        return there ? { estimate: there } : estimate(asked, signal);
    }

    close(): void {
        clearTimeout(this.#timer);
        this.#stop?.abort();
    }

    async #ask(asked: Asked): Promise<void> {
        const stop = new AbortController();
        this.#stop = stop;
        try {
            const answered = await estimate(asked, stop.signal);
            if (!stop.signal.aborted) this.#told(answered, asked);
        } catch (error) {
            if (!stop.signal.aborted) this.#told({ trouble: (error as Error).message });
        }
    }

    #told(
        answer: { estimate?: Estimate; faults?: readonly QueryFault[]; trouble?: string },
        answered?: Asked | undefined,
    ): void {
        this.estimate = answer.estimate;
        this.maxrec = answer.estimate?.maxrec ?? this.maxrec;
        this.faults = answer.faults ?? [];
        this.trouble = answer.trouble ?? '';
        this.#answered = answered;
        this.asking = false;
    }
}

const bytesOf = ({ files = {} }: Asked): number => Object.values(files).reduce((sum, file) => sum + file.size, 0);

function same(one: Asked, other: Asked): boolean {
    const [files, others] = [Object.entries(one.files ?? {}), other.files ?? {}];
    const equal = files.length === Object.keys(others).length && files.every(([name, file]) => others[name] === file);
    return equal && one.query === other.query && one.maxrec === other.maxrec;
}

/** Should it run as a job: is it foreseen to work longer, or asked for more rows, than /sync allows? */
export function isLong({ seconds, syncSeconds, maxrec }: Estimate, rows?: number): boolean {
    return (seconds !== null && seconds > syncSeconds) || (rows !== undefined && rows > maxrec.hard);
}
