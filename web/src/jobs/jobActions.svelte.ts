/** The actions of a job's buttons. `message` reports the outcome. */

import { openQuery, showResult } from '../model/queryOpener';
import { setDestruction, jobPath } from '../tap/uwsClient';
import { addressOf } from '../tap/tapRequest';
import { text } from '../text';
import { jobs } from './userJobs.svelte';
import { router } from '../browser/router.svelte';
import { copyText } from '../browser/clipboard';
import { downloadResult } from './downloadResult';
import type { WatchedJob } from './watchedJob.svelte';
import { findParameter, instantText } from './jobWording';

const WEEK = 7 * 86_400_000;

export class JobActions {
    message = $state('');
    isError = $state(false);
    busy = $state(false);

    constructor(readonly watched: WatchedJob) {}

    get title(): string {
        return this.watched.shownTitle;
    }

    openResult(): void {
        jobs.markSeen(this.watched.id);
        showResult({ kind: 'job', id: this.watched.id }, this.title);
    }

    editQuery(): void {
        if (this.watched.job) openQuery(this.watched.job.query, { title: this.title });
    }

    runJob = (): Promise<void> => this.#tryWork(() => jobs.runJob(this.watched.id));

    /** Create the same job again, and show it. */
    runAgain = (): Promise<void> =>
        this.#tryWork(async () => {
            const { job } = this.watched;
            if (!job) return;
            const [format, maxrec] = [findParameter(job, 'RESPONSEFORMAT'), findParameter(job, 'MAXREC')];
            const id = await jobs.startJob({
                query: job.query,
                title: this.watched.name || this.watched.title,
                ...(format && { format }),
                ...(maxrec && { maxrec: Number(maxrec) }),
            });
            router.go('jobs', id);
        });

    /** Change name and note. Return whether the service has taken them. */
    describeJob = async (name: string, note: string): Promise<boolean> => {
        await this.#tryWork(() => jobs.describeJob(this.watched, name, note));
        return !this.isError;
    };

    stopJob = (): Promise<void> => this.#tryWork(() => jobs.stopJob(this.watched.id));
    deleteJob = (): Promise<void> => this.#tryWork(() => jobs.deleteJob(this.watched.id));

    saveStored = (): Promise<void> =>
        this.#tryWork(async () => {
            if (this.watched.job) await downloadResult(this.watched.job);
        });

    copyAddress = (): Promise<void> =>
        this.#tryWork(async () => {
            const done = await copyText(addressOf(jobPath(this.watched.id)));
            return done ? text.jobs.actions.copied : text.jobs.actions.notCopied;
        });

    /** Keep it a week longer, as far as the service allows. */
    keepLonger = (): Promise<void> =>
        this.#tryWork(async () => {
            const until = await setDestruction(this.watched.id, (this.watched.job?.destruction ?? Date.now()) + WEEK);
            await this.watched.refresh();
            return text.jobs.actions.kept(instantText(until));
        });

    async #tryWork(work: () => Promise<string | void>): Promise<void> {
        [this.busy, this.message] = [true, ''];
        try {
            this.message = (await work()) ?? '';
            this.isError = false;
        } catch (error) {
            [this.message, this.isError] = [(error as Error).message, true];
            // the job may have changed, which is why the action was refused
            await this.watched.refresh();
        } finally {
            this.busy = false;
        }
    }
}
