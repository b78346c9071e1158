/** What the buttons of a job do. What goes wrong is a sentence in `said`. */

import { openQuery, showResult } from '../model/queryOpener';
import { setDestruction, jobPath } from '../tap/uwsClient';
import { addressOf } from '../tap/tapRequest';
import { text } from '../text';
import { jobs } from './userJobs.svelte';
import { copyText } from '../browser/clipboard';
import { downloadResult } from './downloadResult';
import type { WatchedJob } from './watchedJob.svelte';
import { instantText, titleOf } from './jobWording';

const WEEK = 7 * 86_400_000;

export class JobActions {
    said = $state('');
    bad = $state(false);
    busy = $state(false);

    constructor(readonly watched: WatchedJob) {}

    get title(): string {
        return this.watched.title || titleOf(this.watched.job);
    }

    openResult(): void {
        jobs.markSeen(this.watched.id);
        showResult({ kind: 'job', id: this.watched.id }, this.title);
    }

    editQuery(): void {
        if (this.watched.job) openQuery(this.watched.job.query, { title: this.title });
    }

    run = (): Promise<void> => this.#tryWork(() => jobs.runJob(this.watched.id));
    stop = (): Promise<void> => this.#tryWork(() => jobs.stopJob(this.watched.id));
    destroy = (): Promise<void> => this.#tryWork(() => jobs.deleteJob(this.watched.id));

    download = (): Promise<void> =>
        this.#tryWork(async () => {
            if (this.watched.job) await downloadResult(this.watched.job);
        });

    copyAddress = (): Promise<void> =>
        this.#tryWork(async () => {
            const done = await copyText(addressOf(jobPath(this.watched.id)));
            return done ? text.jobs.actions.copied : text.jobs.actions.notCopied;
        });

    /** A week more, as far as the service keeps jobs. */
    keepLonger = (): Promise<void> =>
        this.#tryWork(async () => {
            const until = await setDestruction(this.watched.id, (this.watched.job?.destruction ?? Date.now()) + WEEK);
            await this.watched.refresh();
            return text.jobs.actions.kept(instantText(until));
        });

    async #tryWork(work: () => Promise<string | void>): Promise<void> {
        [this.busy, this.said] = [true, ''];
        try {
            this.said = (await work()) ?? '';
            this.bad = false;
        } catch (error) {
            [this.said, this.bad] = [(error as Error).message, true];
            // what has been refused may have changed meanwhile
            await this.watched.refresh();
        } finally {
            this.busy = false;
        }
    }
}
