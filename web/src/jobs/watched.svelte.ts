/** One job that the page follows: asked again and again until it has ended. */

import { info, isActive, type Job } from '../tap/jobs';
import { TapError } from '../tap/service';
import { Places } from './places';

/** The browser has six connections to a host: some are left for everything else. */
const places = new Places(3);
/** seconds that a request waits for a change, while the job is young and later */
const WAITS = [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2] as const;
const HIDDEN_WAIT = 15;
const LONGEST_PAUSE = 30;

export class WatchedJob {
    readonly id: string;
    /** what the user called it; '' if it has been started elsewhere */
    title = $state('');
    /** undefined until the service has first told it */
    job = $state.raw<Job>();
    /** it is there no more, or not for who asks: the service's words */
    gone = $state('');
    /** why it could not be asked just now; it is asked again */
    trouble = $state('');
    #following: Promise<void> | undefined;
    readonly #stop = new AbortController();

    constructor(
        id: string,
        title = '',
        readonly changed: (watched: WatchedJob) => void = () => undefined,
    ) {
        this.id = id;
        this.title = title;
    }

    /** Ask until it has ended, is gone, or `close()`. Once at a time. */
    follow(): Promise<void> {
        this.#following ??= this.#asked().finally(() => (this.#following = undefined));
        return this.#following;
    }

    /** Ask it once. */
    async refresh(wait = 0): Promise<void> {
        try {
            this.told(await places.use(() => info(this.id, wait, this.#stop.signal)));
        } catch (error) {
            if (!(error instanceof TapError)) throw error;
            if ([403, 404].includes(error.status)) this.gone = error.message;
            else this.trouble = error.message;
            this.changed(this);
        }
    }

    /** What the service has just told of it. */
    told(job: Job): void {
        this.job = job;
        [this.trouble, this.gone] = ['', ''];
        this.changed(this);
    }

    /** Ask no more. */
    close(): void {
        this.#stop.abort();
    }

    async #asked(): Promise<void> {
        for (let turn = 0, failures = 0; !this.#stop.signal.aborted; turn++) {
            const wait = document.hidden && turn ? HIDDEN_WAIT : (WAITS[turn] ?? 3);
            try {
                await this.refresh(this.trouble ? 0 : wait);
            } catch (error) {
                if (this.#stop.signal.aborted) return;
                throw error;
            }
            if (this.gone || (this.job && !this.trouble && !isActive(this.job.phase))) return;
            failures = this.trouble ? failures + 1 : 0;
            if (failures) await pause(Math.min(2 ** failures, LONGEST_PAUSE), this.#stop.signal);
        }
    }
}

/** Seconds, or until the signal. */
function pause(seconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
        const timer = setTimeout(resolve, seconds * 1000);
        signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
    });
}
