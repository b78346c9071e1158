/** The user's jobs: those that this browser has started, and those that the service lists for who is signed in. */

import { untrack } from 'svelte';
import { text } from '../text';
import { credentials } from '../tap/credentials.svelte';
import { abort, create, destroy, isActive, isEnded, list, run, saveAs, type Job, type NewJob } from '../tap/uwsClient';
import { change, KEY, remembered, type Remembered } from './rememberedJobs';
import { TapError } from '../tap/tapRequest';
import { titleOf } from './jobWording';
import { WatchedJob } from './watchedJob.svelte';

export interface StartedJob extends NewJob {
    readonly title?: string;
}

/** A job that is there no more, though nobody has deleted it here. */
export interface LostJob {
    readonly id: string;
    readonly title: string;
    readonly said: string;
}

const LISTED = 500;

export class Jobs {
    /** all known ones, the newest first */
    list = $state.raw<readonly WatchedJob[]>([]);
    /** jobs of this browser that have ended, and whose end the user has not been told yet */
    ended = $state.raw<readonly WatchedJob[]>([]);
    lost = $state.raw<readonly LostJob[]>([]);
    /** why the service's list could not be read, '' if it could */
    failed = $state('');
    readonly running: number = $derived(this.list.filter(({ phase }) => isActive(phase)).length);
    // eslint-disable-next-line svelte/prefer-svelte-reactivity -- what is shown of it is in `list`
    readonly #known = new Map<string, WatchedJob>();
    #own: readonly string[] = [];
    #asker = credentials.header;

    constructor() {
        window.addEventListener('storage', ({ key }) => {
            if (key === null || key.endsWith(`.${KEY}`)) this.#remember();
        });
        this.#remember();
        $effect.root(() => {
            $effect(() => {
                if (credentials.header !== this.#asker) untrack(() => this.#askedByAnother());
            });
        });
        void this.refresh();
    }

    /** Make a job, run it, and remember it in this browser: its id. Raises TapError. */
    async start(wanted: StartedJob): Promise<string> {
        return this.#started(await create(wanted), wanted.title ?? '');
    }

    /** Make table `mydb.name` of a job's result: the id of the job that does so. Raises TapError. */
    async saveAs(id: string, table: string, replace = false): Promise<string> {
        return this.#started(await saveAs(id, table, replace), text.jobs.saveJob(table));
    }

    /** A job, with its progress as it goes: reactive, and followed until it has ended. */
    watch(id: string): WatchedJob {
        const watched = this.#one(id);
        this.#sort();
        void watched.follow();
        return watched;
    }

    /** As `watch`, without a place in the list: a job that this browser may have nothing to do with. */
    look(id: string): WatchedJob {
        const watched = this.#known.get(id) ?? new WatchedJob(id);
        void watched.follow();
        return watched;
    }

    /** Its end is told: by a page that shows it, or by the user who has read it. */
    seen(id: string): void {
        this.ended = untrack(() => this.ended).filter((watched) => watched.id !== id);
        change((all) => all.map((one) => (one.id === id ? { ...one, told: true } : one)));
    }

    /** Start a job that another program has made. Raises TapError. */
    async run(id: string): Promise<void> {
        await run(id);
        await this.#again(id);
    }

    /** Raises TapError. */
    async stop(id: string): Promise<void> {
        await abort(id);
        this.seen(id);
        await this.#again(id);
    }

    /** Delete a job and its result. Raises TapError, not if it is deleted already. */
    async destroy(id: string): Promise<void> {
        try {
            await destroy(id);
        } catch (error) {
            if (!(error instanceof TapError && error.status === 404)) throw error;
        }
        const watched = this.#known.get(id);
        if (watched) watched.gone = text.jobs.deleted;
        this.#forget(id);
    }

    /** The user has read that a job is lost. */
    dismiss(id: string): void {
        this.lost = this.lost.filter((one) => one.id !== id);
    }

    /** Ask for the list of who is signed in, and for the jobs that run. Never raises: `failed` says what is wrong. */
    async refresh(): Promise<void> {
        for (const watched of this.list) if (isActive(watched.phase)) void watched.follow();
        const asker = credentials.header;
        if (!asker) return;
        try {
            const references = await list(LISTED);
            if (asker !== credentials.header) return;
            for (const reference of references) this.#one(reference.id).listed(reference);
            if (references.length < LISTED) this.#missing(references.map(({ id }) => id));
            this.failed = '';
        } catch (error) {
            this.failed = (error as Error).message;
        }
        this.#sort();
    }

    /** Jobs of the user that the list has no more: their documents tell why. */
    #missing(listed: readonly string[]): void {
        for (const watched of this.#known.values())
            if (watched.owner && !listed.includes(watched.id)) void watched.refresh();
    }

    #started(job: Job, title: string): string {
        const { id, created, owner } = job;
        change((all) => [{ id, title: title || titleOf(job), created, owner, told: false }, ...all]);
        this.#remember();
        const watched = this.#one(id);
        watched.told(job);
        this.#sort();
        void watched.follow();
        return id;
    }

    async #again(id: string): Promise<void> {
        const watched = this.#one(id);
        await watched.refresh();
        void watched.follow();
    }

    #one(id: string): WatchedJob {
        const there = this.#known.get(id);
        if (there) return there;
        const watched = new WatchedJob(id, (one) => this.#changed(one));
        this.#known.set(id, watched);
        return watched;
    }

    #changed(watched: WatchedJob): void {
        const own = remembered().find(({ id }) => id === watched.id);
        if (watched.gone) {
            const title = own?.title || watched.title || titleOf(watched.job);
            const expired = Date.now() >= (own?.until ?? Infinity);
            const isNews = this.#known.has(watched.id) && !expired;
            if (isNews) this.lost = [...this.lost, { id: watched.id, title, said: watched.gone }];
            this.#forget(watched.id);
            return;
        }
        const until = watched.job?.destruction;
        if (own && until && own.until !== until) {
            change((all) => all.map((one) => (one.id === watched.id ? { ...one, until } : one)));
        }
        if (own && !own.told && !this.ended.includes(watched) && isEnded(watched.phase)) {
            this.ended = [...this.ended, watched];
        }
    }

    /** Take what this browser remembers, as another tab may have written it. */
    #remember(): void {
        const own = remembered().filter(isShown);
        for (const { id, title, told } of own) {
            const isNew = !this.#known.has(id);
            const watched = this.#one(id);
            watched.title = title;
            if (isNew && !told) void watched.follow();
        }
        const untold = own.filter(({ told }) => !told).map(({ id }) => id);
        this.ended = this.ended.filter(({ id }) => untold.includes(id));
        const ids = own.map(({ id }) => id);
        // another tab has deleted them: nobody has to be told
        for (const id of this.#own) if (!ids.includes(id)) this.#known.delete(id);
        this.#own = ids;
        this.#sort();
    }

    #forget(id: string): void {
        this.#known.get(id)?.close();
        this.#known.delete(id);
        this.ended = this.ended.filter((watched) => watched.id !== id);
        change((all) => all.filter((one) => one.id !== id));
        this.#sort();
    }

    #askedByAnother(): void {
        this.#asker = credentials.header;
        for (const watched of this.#known.values()) {
            if (!watched.owner || watched.owner === credentials.name) continue;
            watched.close();
            watched.gone = text.jobs.notYours;
            this.#known.delete(watched.id);
        }
        this.#own = [];
        [this.lost, this.failed] = [[], ''];
        this.#remember();
        void this.refresh();
    }

    #sort(): void {
        const own = Object.fromEntries(remembered().map(({ id, created }) => [id, created]));
        const age = (watched: WatchedJob): number => own[watched.id] ?? watched.created ?? 0;
        const sorted = [...this.#known.values()].toSorted((one, other) => age(other) - age(one));
        if (sorted.length !== this.list.length || sorted.some((one, at) => one !== this.list[at])) this.list = sorted;
    }
}

/** Jobs of another user of this browser are refused to who is signed in now. */
function isShown({ owner }: Remembered): boolean {
    return owner === '' || owner === credentials.name;
}

export const jobs = new Jobs();
