/** The user's jobs: those that this browser has started, and those that the service lists for who is signed in. */

import { text } from '../text';
import { credentials } from '../tap/credentials.svelte';
import { create, isActive, isEnded, list as listed, type NewJob } from '../tap/jobs';
import { change, KEY, remembered, type Remembered } from './memory';
import { WatchedJob } from './watched.svelte';

export interface StartedJob extends NewJob {
    readonly title?: string;
}

const AT_THE_SERVICE = 200;

class Jobs {
    /** all known ones, the newest first */
    list = $state.raw<readonly WatchedJob[]>([]);
    /** jobs of this browser that have ended, and whose end the user has not been told yet */
    ended = $state.raw<readonly WatchedJob[]>([]);
    readonly running = $derived(this.list.filter(({ job }) => job && isActive(job.phase)).length);
    readonly #known = new Map<string, WatchedJob>();

    constructor() {
        window.addEventListener('storage', ({ key }) => {
            if (key === null || key.endsWith(KEY)) this.#take(remembered());
        });
        this.#take(remembered());
        for (const { id, told } of remembered()) if (!told) void this.watch(id).follow();
    }

    /** Make a job, run it, and remember it in this browser: its id. Raises TapError. */
    async start(wanted: StartedJob): Promise<string> {
        const job = await create(wanted);
        const { id, created, owner } = job;
        const title = wanted.title ?? firstLine(wanted.query);
        this.#take(change((all) => [{ id, title, created, owner, told: false }, ...all]));
        const watched = this.watch(id);
        watched.told(job);
        void watched.follow();
        return id;
    }

    /** A job, with its progress as it goes: reactive, and followed until it has ended. */
    watch(id: string): WatchedJob {
        const watched = this.#one(id);
        void watched.follow();
        return watched;
    }

    /** Its end is told: by a page that shows it, or by the user who has read it. */
    seen(id: string): void {
        this.ended = this.ended.filter((watched) => watched.id !== id);
        change((all) => all.map((one) => (one.id === id ? { ...one, told: true } : one)));
    }

    /** Take it from the list: it has been destroyed. */
    forget(id: string): void {
        this.#known.get(id)?.close();
        this.#known.delete(id);
        this.ended = this.ended.filter((watched) => watched.id !== id);
        this.#take(change((all) => all.filter((one) => one.id !== id)));
    }

    /** Ask the service for its list, if somebody is signed in. Raises TapError. */
    async refresh(): Promise<void> {
        if (!credentials.header) return;
        for (const { id } of await listed(AT_THE_SERVICE)) this.#one(id);
        this.#sorted();
    }

    #one(id: string): WatchedJob {
        const there = this.#known.get(id);
        if (there) return there;
        const watched = new WatchedJob(id, '', (one) => this.#changed(one));
        this.#known.set(id, watched);
        this.#sorted();
        return watched;
    }

    #changed(watched: WatchedJob): void {
        const own = remembered().find(({ id }) => id === watched.id);
        if (!own || own.told || this.ended.includes(watched)) return;
        if (watched.job && isEnded(watched.job.phase)) this.ended = [...this.ended, watched];
    }

    #take(all: readonly Remembered[]): void {
        for (const { id, title } of all) this.#one(id).title = title;
        this.#sorted();
    }

    #sorted(): void {
        const created = new Map(remembered().map((one) => [one.id, one.created]));
        const age = ({ id, job }: WatchedJob): number => job?.created ?? created.get(id) ?? Infinity;
        this.list = [...this.#known.values()].toSorted((one, other) => age(other) - age(one));
    }
}

function firstLine(query: string): string {
    return query.trim().split('\n')[0]?.slice(0, 80) ?? text.common.pages.jobs;
}

export const jobs = new Jobs();
