/** A job that the page polls until it ends. */

import { untrack } from 'svelte';
import { fetchJob, isActive, isEnded, type Job, type JobReference, type Phase } from '../tap/uwsClient';
import { TapError } from '../tap/tapRequest';
import { RequestSlots } from '../browser/requestSlots';
import { titleOf } from './jobWording';

/** The browser has six connections per host for all its tabs: only a few requests may wait for a change. */
const MAX_LONG_POLLS = 2;
/** seconds: wait of a request for a young and an older job; pauses between requests that do not wait */
const [FIRST_WAIT, LATER_WAIT, YOUNG_TURNS] = [1, 3, 15];
const [MANY_PAUSE, HIDDEN_PAUSE, IDLE_PAUSE, MAX_PAUSE] = [2, 10, 10, 30];

const asking = new RequestSlots(3);
const waiting = new RequestSlots(MAX_LONG_POLLS);
let followed = 0;

export class WatchedJob {
    /** the user's title; '' if it was started elsewhere */
    title = $state('');
    /** undefined until the service has answered */
    job = $state.raw<Job>();
    /** it no longer exists, or not for this user: the service's message */
    gone = $state('');
    /** why the last request failed; it is repeated */
    error = $state('');
    #listed = $state.raw<JobReference>();
    #following: Promise<void> | undefined;
    readonly #stop = new AbortController();

    constructor(
        readonly id: string,
        readonly onChange: (watched: WatchedJob) => void = () => undefined,
    ) {}

    /** UNKNOWN until the service has answered */
    get phase(): Phase {
        return this.job?.phase ?? this.#listed?.phase ?? 'UNKNOWN';
    }

    /** the user's name for it; '' if it has none */
    get name(): string {
        return this.job?.runId ?? this.#listed?.runId ?? '';
    }

    /** its name, otherwise the title that this browser has stored, otherwise a description */
    get shownTitle(): string {
        return this.name || this.title || titleOf(this.job);
    }

    /** creation, milliseconds since 1970; undefined until known */
    get created(): number | undefined {
        return this.job?.created ?? this.#listed?.created;
    }

    /** '' if anonymous; undefined until known */
    get owner(): string | undefined {
        return this.job?.owner ?? this.#listed?.owner;
    }

    /** Take over the entry of the service's list. */
    takeReference(reference: JobReference): void {
        this.#listed = reference;
        const { job } = this;
        const changed = job && job.phase !== reference.phase && !isEnded(job.phase);
        if (changed || isActive(reference.phase)) void this.followUntilEnd();
        else if (job && job.runId !== reference.runId) void this.refresh();
    }

    /** Take over the service's answer. */
    takeJob(job: Job): void {
        this.job = job;
        [this.error, this.gone] = ['', ''];
        this.onChange(this);
    }

    /** Poll until it ends, is gone, or `close()`. Only once at a time. */
    followUntilEnd(): Promise<void> {
        // keep its reads out of the calling effect
        this.#following ??= untrack(() => this.#pollUntilEnd()).finally(() => (this.#following = undefined));
        return this.#following;
    }

    /** Ask once; with `wait`, after a change or that many seconds. */
    async refresh(wait = 0): Promise<void> {
        const signal = this.#stop.signal;
        try {
            const job = await (wait ? waiting : asking).runInSlot(() => fetchJob(this.id, wait, signal));
            if (!signal.aborted) this.takeJob(job);
        } catch (error) {
            if (signal.aborted) return;
            if (!(error instanceof TapError)) throw error;
            if ([403, 404].includes(error.status)) this.gone = error.message;
            else this.error = error.message;
            this.onChange(this);
        }
    }

    /** Stop polling. */
    close(): void {
        this.#stop.abort();
    }

    async #pollUntilEnd(): Promise<void> {
        followed++;
        try {
            for (let turn = 0, failures = 0; !this.#stop.signal.aborted; turn++) {
                await this.refresh(this.#waitSeconds(turn));
                if (this.gone || (!this.error && !isActive(this.phase))) return;
                failures = this.error ? failures + 1 : 0;
                await pauseFor(this.#pauseSeconds(failures), this.#stop.signal);
            }
        } finally {
            followed--;
        }
    }

    #waitSeconds(turn: number): number {
        if (turn === 0 || this.error || document.hidden || followed > MAX_LONG_POLLS) return 0;
        return turn < YOUNG_TURNS ? FIRST_WAIT : LATER_WAIT;
    }

    #pauseSeconds(failures: number): number {
        if (failures) return Math.min(2 ** failures, MAX_PAUSE);
        if (document.hidden) return HIDDEN_PAUSE;
        if (this.phase !== 'QUEUED' && this.phase !== 'EXECUTING') return IDLE_PAUSE;
        return followed > MAX_LONG_POLLS ? MANY_PAUSE : 0;
    }
}

/** Wait for seconds, the signal, or until the page is visible again. */
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
