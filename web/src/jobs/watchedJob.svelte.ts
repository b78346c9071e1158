/** One job that the page follows: asked again and again until it has ended. */

import { untrack } from 'svelte';
import { fetchJob, isActive, isEnded, type Job, type JobReference, type Phase } from '../tap/uwsClient';
import { TapError } from '../tap/tapRequest';
import { RequestSlots } from '../browser/requestSlots';

/** The browser has six connections to a host, for all its tabs: few requests wait at the service for a change. */
const MAX_LONG_POLLS = 2;
/** seconds: of a request that waits, while the job is young and later; between requests that do not wait */
const [FIRST_WAIT, LATER_WAIT, YOUNG_TURNS] = [1, 3, 15];
const [MANY_PAUSE, HIDDEN_PAUSE, IDLE_PAUSE, MAX_PAUSE] = [2, 10, 10, 30];

const asking = new RequestSlots(3);
const waiting = new RequestSlots(MAX_LONG_POLLS);
let followed = 0;

export class WatchedJob {
    /** what the user called it; '' if it has been started elsewhere */
    title = $state('');
    /** undefined until the service has first told it */
    job = $state.raw<Job>();
    /** it is there no more, or not for who asks: the service's words */
    gone = $state('');
    /** why it could not be asked just now; it is asked again */
    trouble = $state('');
    #listed = $state.raw<JobReference>();
    #following: Promise<void> | undefined;
    readonly #stop = new AbortController();

    constructor(
        readonly id: string,
        readonly onChange: (watched: WatchedJob) => void = () => undefined,
    ) {}

    /** UNKNOWN until it is known */
    get phase(): Phase {
        return this.job?.phase ?? this.#listed?.phase ?? 'UNKNOWN';
    }

    /** when it was made, milliseconds since 1970; undefined until that is known */
    get created(): number | undefined {
        return this.job?.created ?? this.#listed?.created;
    }

    /** '' if anonymous; undefined until that is known */
    get owner(): string | undefined {
        return this.job?.owner ?? this.#listed?.owner;
    }

    /** What the service's list says of it. */
    takeReference(reference: JobReference): void {
        this.#listed = reference;
        const changed = this.job && this.job.phase !== reference.phase && !isEnded(this.job.phase);
        if (changed || isActive(reference.phase)) void this.followUntilEnd();
    }

    /** What the service has just told of it. */
    takeJob(job: Job): void {
        this.job = job;
        [this.trouble, this.gone] = ['', ''];
        this.onChange(this);
    }

    /** Ask until it has ended, is gone, or `close()`. Once at a time. */
    followUntilEnd(): Promise<void> {
        // an effect that begins it is not run again by what it changes
        this.#following ??= untrack(() => this.#pollUntilEnd()).finally(() => (this.#following = undefined));
        return this.#following;
    }

    /** Ask it once; with `wait`, when it changes or after so many seconds. */
    async refresh(wait = 0): Promise<void> {
        const signal = this.#stop.signal;
        try {
            const job = await (wait ? waiting : asking).runInSlot(() => fetchJob(this.id, wait, signal));
            if (!signal.aborted) this.takeJob(job);
        } catch (error) {
            if (signal.aborted) return;
            if (!(error instanceof TapError)) throw error;
            if ([403, 404].includes(error.status)) this.gone = error.message;
            else this.trouble = error.message;
            this.onChange(this);
        }
    }

    /** Ask no more. */
    close(): void {
        this.#stop.abort();
    }

    async #pollUntilEnd(): Promise<void> {
        followed++;
        try {
            for (let turn = 0, failures = 0; !this.#stop.signal.aborted; turn++) {
                await this.refresh(this.#waitSeconds(turn));
                if (this.gone || (!this.trouble && !isActive(this.phase))) return;
                failures = this.trouble ? failures + 1 : 0;
                await pauseFor(this.#pauseSeconds(failures), this.#stop.signal);
            }
        } finally {
            followed--;
        }
    }

    #waitSeconds(turn: number): number {
        if (turn === 0 || this.trouble || document.hidden || followed > MAX_LONG_POLLS) return 0;
        return turn < YOUNG_TURNS ? FIRST_WAIT : LATER_WAIT;
    }

    #pauseSeconds(failures: number): number {
        if (failures) return Math.min(2 ** failures, MAX_PAUSE);
        if (document.hidden) return HIDDEN_PAUSE;
        if (this.phase !== 'QUEUED' && this.phase !== 'EXECUTING') return IDLE_PAUSE;
        return followed > MAX_LONG_POLLS ? MANY_PAUSE : 0;
    }
}

/** Seconds, or until the signal, or until the page is looked at again. */
function pauseFor(seconds: number, signal: AbortSignal): Promise<void> {
    if (seconds === 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
        const over = new AbortController();
        const end = () => (clearTimeout(timer), over.abort(), resolve());
        const timer = setTimeout(end, seconds * 1000);
        signal.addEventListener('abort', end, { signal: over.signal });
        document.addEventListener('visibilitychange', () => document.hidden || end(), { signal: over.signal });
    });
}
