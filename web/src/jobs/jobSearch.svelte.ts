/** The search in the list of jobs: at once in what the page knows, then in all that the service keeps. */

import { isActive, type Job, type JobFilter, type Phase } from '../tap/uwsClient';
import { instantText } from './jobWording';
import type { WatchedJob } from './watchedJob.svelte';
import type { UserJobs } from './userJobs.svelte';

/** a choice of phases: all, those that wait or run, or one */
export type ShownPhase = 'all' | 'active' | Phase;

const DAY = 86_400_000;
/** milliseconds after the last key */
const PAUSE = 350;

export class JobSearch {
    shown = $state<ShownPhase>('all');
    words = $state('');
    /** days such as 2026-11-21, in UTC as all times of jobs; '' without a bound */
    from = $state('');
    to = $state('');
    /** why the service could not search; '' if it could */
    failed = $state('');
    #found = $state.raw<{ readonly words: string; readonly ids: readonly string[] }>({ words: '', ids: [] });

    readonly filter: JobFilter = $derived(readFilter(this.words, this.from, this.to));
    readonly isOn = $derived(Object.values(this.filter).some((each) => each !== undefined));

    /** Ask the service after a pause. Return what ends that. */
    askLater(jobs: UserJobs): (() => void) | undefined {
        this.failed = '';
        if (!this.isOn) return undefined;
        const { filter, shown } = this;
        const phases = shown === 'all' || shown === 'active' ? [] : [shown];
        let isOver = false;
        const timer = setTimeout(async () => {
            try {
                const ids = await jobs.findJobs(filter, phases);
                if (isOver) return;
                this.#found = { words: filter.words ?? '', ids };
                // the states of these jobs on the page are out of date
                for (const watched of jobs.list) {
                    if (ids.includes(watched.id) && watched.job && !this.#hasWords(watched)) void watched.refresh();
                }
            } catch (error) {
                if (!isOver) this.failed = (error as Error).message;
            }
        }, PAUSE);
        return () => {
            isOver = true;
            clearTimeout(timer);
        };
    }

    /** Whether a job is one of those that are looked for. */
    matches(watched: WatchedJob): boolean {
        const { words = '', after = -Infinity, before = Infinity } = this.filter;
        const { phase, created } = watched;
        const fits = this.shown === 'all' || (this.shown === 'active' ? isActive(phase) : phase === this.shown);
        if (!fits || (created !== undefined && (created <= after || created >= before))) return false;
        return this.#hasWords(watched) || (this.#found.words === words && this.#found.ids.includes(watched.id));
    }

    #hasWords({ id, shownTitle, job }: WatchedJob): boolean {
        const { words = '' } = this.filter;
        return words === '' || hasWords(searchedText(id, shownTitle, job), words);
    }
}

/** Read words and days; the bounds of a filter are exclusive. */
export function readFilter(words: string, from: string, to: string): JobFilter {
    const [first, last] = [Date.parse(from), Date.parse(to)];
    return {
        ...(words.trim() && { words: words.trim() }),
        ...(Number.isFinite(first) && { after: first - 1 }),
        ...(Number.isFinite(last) && { before: last + DAY }),
    };
}

/** What words are looked for in, as the service does: docs/async.md. */
export function searchedText(id: string, title: string, job: Job | undefined): string {
    const day = job && instantText(job.created).slice(0, 16);
    return [id, title, job?.info.note, day, ...(job?.parameters.map(([, value]) => value) ?? [])].join('\n');
}

/** Whether a text contains all words, ignoring case. */
export function hasWords(all: string, words: string): boolean {
    const lower = all.toLowerCase();
    return words
        .toLowerCase()
        .split(/\s+/)
        .every((word) => lower.includes(word));
}
