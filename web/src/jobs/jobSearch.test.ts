import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Job } from '../tap/uwsClient';

vi.hoisted(() => Object.assign(globalThis, { document: { baseURI: 'http://localhost/' } }));

import { hasWords, JobSearch, readFilter, searchedText } from './jobSearch.svelte';
import { WatchedJob } from './watchedJob.svelte';

const job: Job = {
    id: '0a1b',
    phase: 'COMPLETED',
    runId: 'Orbit of Mars',
    owner: 'kepler',
    created: Date.UTC(2026, 10, 21, 18, 32),
    destruction: 0,
    executionDuration: 60,
    parameters: [['QUERY', 'SELECT ra FROM tycho2.bright']],
    query: 'SELECT ra FROM tycho2.bright',
    info: { note: 'For the\nsecond paper' },
};

describe('the search in jobs', () => {
    const watched = new WatchedJob(job.id);
    beforeAll(() => watched.takeJob(job));

    function search(wanted: Partial<Pick<JobSearch, 'words' | 'from' | 'to' | 'shown'>>): boolean {
        return Object.assign(new JobSearch(), wanted).matches(watched);
    }

    it('finds all words in name, note, query, table, id and day', () => {
        for (const words of ['mars', 'PAPER orbit', 'tycho2.bright', '0a1b', '2026-11-21', ' ']) {
            expect(search({ words }), words).toBe(true);
        }
        expect(search({ words: 'mars jupiter' })).toBe(false);
        expect(searchedText('1', 'a title', undefined)).toContain('a title');
        expect(hasWords('a b', 'b  a')).toBe(true);
    });

    it('finds days in UTC, and phases', () => {
        expect(search({ from: '2026-11-21', to: '2026-11-21' })).toBe(true);
        expect(search({ from: '2026-11-22' })).toBe(false);
        expect(search({ to: '2026-11-20' })).toBe(false);
        expect(search({ shown: 'COMPLETED' })).toBe(true);
        expect(search({ shown: 'active', words: 'mars' })).toBe(false);
    });

    it('asks the service with exclusive bounds', () => {
        expect(readFilter(' mars ', '2026-11-21', '2026-11-21')).toEqual({
            words: 'mars',
            after: Date.UTC(2026, 10, 21) - 1,
            before: Date.UTC(2026, 10, 22),
        });
        expect(readFilter('', '', 'soon')).toEqual({});
    });

    it('has what the service has found, as long as these words are looked for', async () => {
        vi.useFakeTimers();
        const state = Object.assign(new JobSearch(), { words: 'unseen' });
        expect(state.matches(watched)).toBe(false);
        const findJobs = vi.fn(() => Promise.resolve([job.id]));
        state.askLater({ findJobs, list: [] } as unknown as Parameters<JobSearch['askLater']>[0]);
        await vi.runAllTimersAsync();
        expect(findJobs).toHaveBeenCalledWith({ words: 'unseen' }, []);
        expect(state.matches(watched)).toBe(true);
        state.words = 'other';
        expect(state.matches(watched)).toBe(false);
        vi.useRealTimers();
    });

    it('calls a job by its name, else by what this browser calls it', () => {
        const other = new WatchedJob('2');
        other.title = 'Query 1';
        other.takeJob({ ...job, id: '2', runId: '' });
        expect([watched.shownTitle, other.shownTitle]).toEqual(['Orbit of Mars', 'Query 1']);
    });
});
