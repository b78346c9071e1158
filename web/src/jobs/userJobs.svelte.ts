/** The user's jobs: started by this browser, or listed by the service after sign-in. */

import { untrack } from 'svelte';
import { text } from '../text';
import { credentials } from '../tap/credentials.svelte';
import {
    abortJob,
    createJob,
    deleteJob,
    isActive,
    isEnded,
    listJobs,
    runJob,
    saveResultAs,
    setName,
    setNote,
    type Job,
    type JobFilter,
    type NewJob,
    type Phase,
} from '../tap/uwsClient';
import { changeRemembered, readRemembered, watchRemembered, type RememberedJob } from './rememberedJobs';
import { TapError } from '../tap/tapRequest';
import { titleOf } from './jobWording';
import { WatchedJob } from './watchedJob.svelte';

export interface StartedJob extends NewJob {
    readonly title?: string;
}

/** A job that has disappeared without being deleted here. */
export interface LostJob {
    readonly id: string;
    readonly title: string;
    readonly reason: string;
}

const MAX_LISTED = 500;
/** characters of a name: docs/async.md */
export const MAX_NAME = 200;

export class UserJobs {
    /** all known jobs, newest first */
    list = $state.raw<readonly WatchedJob[]>([]);
    /** jobs of this browser that have ended without the user knowing yet */
    ended = $state.raw<readonly WatchedJob[]>([]);
    lost = $state.raw<readonly LostJob[]>([]);
    /** why the service's list could not be read; '' if it could */
    failed = $state('');
    readonly running: number = $derived(this.list.filter(({ phase }) => isActive(phase)).length);
    // eslint-disable-next-line svelte/prefer-svelte-reactivity -- what is shown of it is in `list`
    readonly #known = new Map<string, WatchedJob>();
    #own: readonly string[] = [];
    #asker = credentials.header;

    constructor() {
        watchRemembered(() => this.#takeRemembered());
        this.#takeRemembered();
        $effect.root(() => {
            $effect(() => {
                if (credentials.header !== this.#asker) untrack(() => this.#switchUser());
            });
        });
        void this.refresh();
    }

    /** Create, run and remember a job. Return its id. Raises TapError. */
    async startJob(wanted: StartedJob): Promise<string> {
        const { title = '', ...asked } = wanted;
        return this.#addStarted(await createJob({ ...asked, name: title.slice(0, MAX_NAME) }), title);
    }

    /** Save a job's result as table `mydb.name`. Return the id of the job that does so. Raises TapError. */
    async saveAs(id: string, table: string, replace = false): Promise<string> {
        return this.#addStarted(await saveResultAs(id, table, replace), text.jobs.saveJob(table));
    }

    /** Return a job with live progress, followed until it ends. */
    watchJob(id: string): WatchedJob {
        const watched = this.#findOrAdd(id);
        this.#sortList();
        void watched.followUntilEnd();
        return watched;
    }

    /** As `watchJob`, without adding it to the list: the job may not be this browser's. */
    lookAt(id: string): WatchedJob {
        const watched = this.#known.get(id) ?? new WatchedJob(id);
        void watched.followUntilEnd();
        return watched;
    }

    /**
     * Whether this user has made a job, or may administer it. The service cannot tell for an anonymous job, which belongs
     * to whoever knows its address; here it is the browser that started it.
     */
    isOwn(watched: WatchedJob): boolean {
        return this.list.includes(watched) || (watched.owner ?? '') !== '' || credentials.isAdmin;
    }

    /** Mark the end of a job as known to the user. */
    markSeen(id: string): void {
        this.ended = untrack(() => this.ended).filter((watched) => watched.id !== id);
        changeRemembered((all) => all.map((one) => (one.id === id ? { ...one, told: true } : one)));
    }

    /** Change a job's name and note, as far as they differ. Raises TapError. */
    async describeJob(watched: WatchedJob, name: string, note: string): Promise<void> {
        if (name !== watched.name) await setName(watched.id, name);
        if (note !== (watched.job?.info.note ?? '')) await setNote(watched.id, note);
        await watched.refresh();
    }

    /**
     * Find jobs by words and dates among all that the service keeps for the user, add them to the list, and return their
     * ids; anonymous users have none. Raises TapError.
     */
    async findJobs(wanted: JobFilter, phases: readonly Phase[]): Promise<readonly string[]> {
        const asker = credentials.header;
        // without a list at the service, the page has to know them itself
        if (!asker) for (const watched of this.list) if (!watched.job) void watched.followUntilEnd();
        const found = asker ? await listJobs(MAX_LISTED, phases, wanted) : [];
        if (asker !== credentials.header) return [];
        for (const reference of found) this.#findOrAdd(reference.id).takeReference(reference);
        this.#sortList();
        return found.map(({ id }) => id);
    }

    /** Start a job that another program has created. Raises TapError. */
    async runJob(id: string): Promise<void> {
        await runJob(id);
        await this.#followAgain(id);
    }

    /** Raises TapError. */
    async stopJob(id: string): Promise<void> {
        await abortJob(id);
        this.markSeen(id);
        await this.#followAgain(id);
    }

    /** Delete a job and its result. Raises TapError, except if it is already gone. */
    async deleteJob(id: string): Promise<void> {
        try {
            await deleteJob(id);
        } catch (error) {
            if (!(error instanceof TapError && error.status === 404)) throw error;
        }
        const watched = this.#known.get(id);
        if (watched) watched.gone = text.jobs.deleted;
        this.#forgetJob(id);
    }

    /** Remove the notice about a lost job. */
    dismissLost(id: string): void {
        this.lost = this.lost.filter((one) => one.id !== id);
    }

    /** Refresh the signed-in user's list and the running jobs. Never raises; `failed` holds the reason. */
    async refresh(): Promise<void> {
        for (const watched of this.list) if (isActive(watched.phase)) void watched.followUntilEnd();
        const asker = credentials.header;
        if (!asker) return;
        try {
            const references = await listJobs(MAX_LISTED);
            if (asker !== credentials.header) return;
            for (const reference of references) this.#findOrAdd(reference.id).takeReference(reference);
            if (references.length < MAX_LISTED) this.#refreshMissing(references.map(({ id }) => id));
            this.failed = '';
        } catch (error) {
            this.failed = (error as Error).message;
        }
        this.#sortList();
    }

    /** Ask for jobs that have disappeared from the list: the answer says why. */
    #refreshMissing(listed: readonly string[]): void {
        for (const watched of this.#known.values())
            if (watched.owner && !listed.includes(watched.id)) void watched.refresh();
    }

    #addStarted(job: Job, title: string): string {
        const { id, created, owner } = job;
        changeRemembered((all) => [{ id, title: title || titleOf(job), created, owner, told: false }, ...all]);
        this.#takeRemembered();
        const watched = this.#findOrAdd(id);
        watched.takeJob(job);
        this.#sortList();
        void watched.followUntilEnd();
        return id;
    }

    async #followAgain(id: string): Promise<void> {
        const watched = this.#findOrAdd(id);
        await watched.refresh();
        void watched.followUntilEnd();
    }

    #findOrAdd(id: string): WatchedJob {
        const there = this.#known.get(id);
        if (there) return there;
        const watched = new WatchedJob(id, (one) => this.#handleChange(one));
        this.#known.set(id, watched);
        return watched;
    }

    #handleChange(watched: WatchedJob): void {
        const own = readRemembered().find(({ id }) => id === watched.id);
        if (watched.gone) {
            const title = watched.name || own?.title || watched.shownTitle;
            const expired = Date.now() >= (own?.until ?? Infinity);
            const isNews = this.#known.has(watched.id) && !expired;
            if (isNews) this.lost = [...this.lost, { id: watched.id, title, reason: watched.gone }];
            this.#forgetJob(watched.id);
            return;
        }
        const until = watched.job?.destruction;
        if (own && until && own.until !== until) {
            changeRemembered((all) => all.map((one) => (one.id === watched.id ? { ...one, until } : one)));
        }
        if (own && !own.told && !this.ended.includes(watched) && isEnded(watched.phase)) {
            this.ended = [...this.ended, watched];
        }
    }

    /** Take over the remembered jobs, which another tab may have changed. */
    #takeRemembered(): void {
        const own = readRemembered().filter(isShown);
        for (const { id, title, told } of own) {
            const isNew = !this.#known.has(id);
            const watched = this.#findOrAdd(id);
            watched.title = title;
            if (isNew && !told) void watched.followUntilEnd();
        }
        const untold = own.filter(({ told }) => !told).map(({ id }) => id);
        this.ended = this.ended.filter(({ id }) => untold.includes(id));
        const ids = own.map(({ id }) => id);
        // deleted in another tab: no notice needed
        for (const id of this.#own) if (!ids.includes(id)) this.#known.delete(id);
        this.#own = ids;
        this.#sortList();
    }

    #forgetJob(id: string): void {
        this.#known.get(id)?.close();
        this.#known.delete(id);
        this.ended = this.ended.filter((watched) => watched.id !== id);
        changeRemembered((all) => all.filter((one) => one.id !== id));
        this.#sortList();
    }

    #switchUser(): void {
        this.#asker = credentials.header;
        for (const watched of this.#known.values()) {
            if (!watched.owner || watched.owner === credentials.name) continue;
            watched.close();
            watched.gone = text.jobs.notYours;
            this.#known.delete(watched.id);
        }
        this.#own = [];
        [this.lost, this.failed] = [[], ''];
        this.#takeRemembered();
        void this.refresh();
    }

    #sortList(): void {
        const own = Object.fromEntries(readRemembered().map(({ id, created }) => [id, created]));
        const age = (watched: WatchedJob): number => own[watched.id] ?? watched.created ?? 0;
        const sorted = [...this.#known.values()].toSorted((one, other) => age(other) - age(one));
        if (sorted.length !== this.list.length || sorted.some((one, at) => one !== this.list[at])) this.list = sorted;
    }
}

/** Other users of this browser may not see each other's jobs. */
function isShown({ owner }: RememberedJob): boolean {
    return owner === '' || owner === credentials.name;
}

export const jobs = new UserJobs();
