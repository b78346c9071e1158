import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

vi.hoisted(() => Object.assign(globalThis, { document: { baseURI: 'http://localhost/' } }));

import type { AccountQuery, HistoryPage } from '../tap/historyClient';
import { AccountQueries, entryOf } from './accountQueries.svelte';

const query = (id: string, more: Partial<AccountQuery> = {}): AccountQuery => ({
    ...{ id, jobId: null, created: '2026-11-21T18:32:20.458Z', seconds: 1.5, status: 'OK', rows: 7, runId: '' },
    ...{ query: `SELECT ${id}`, isCut: false, error: '', ...more },
});

const page = (queries: AccountQuery[], next: string | null = null): HistoryPage => ({
    ...{ queries, limits: { queries: 10_000, days: 365 }, next },
});

/** The next requests are answered with these, in order; what was asked is kept. */
function answerRequests(...answers: (HistoryPage | string | Promise<HistoryPage>)[]) {
    const asked: { url: URL; method: string }[] = [];
    vi.stubGlobal('fetch', async (url: string, { method = 'GET' }: RequestInit) => {
        const answer = answers[asked.length]!;
        asked.push({ url: new URL(url), method });
        const body = await answer;
        return typeof body === 'string' ? new Response(body, { status: 503 }) : Response.json(body);
    });
    return asked;
}

const idsOf = ({ entries }: AccountQueries) => entries?.map(({ id }) => id);

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
});

describe('the queries of an account', () => {
    it('are entries of a history', () => {
        const entry = entryOf(query('a', { jobId: '0a1b', status: 'OVERFLOW', runId: 'Mars', isCut: true }));
        expect(entry).toEqual({
            ...{ id: 'a', adql: 'SELECT a', title: 'Mars', at: Date.UTC(2026, 10, 21, 18, 32, 20, 458), mode: 'async' },
            ...{ state: 'complete', seconds: 1.5, rows: 7, cut: true, job: '0a1b', shortened: true },
        });
        expect(entryOf(query('b', { status: 'REUSED' }))).toMatchObject({ state: 'complete', mode: 'sync' });
        const failed = entryOf(query('c', { status: 'ERROR', error: 'why', rows: 0 }));
        expect(failed).toMatchObject({ state: 'failed', message: 'why' });
        expect('rows' in failed).toBe(false);
        expect(entryOf(query('d', { status: 'ABORTED' })).state).toBe('stopped');
        expect(entryOf(query('e', { status: 'GONE' })).state).toBe('stopped');
    });

    it('are asked for by words and days, and page by page', async () => {
        const next = 'https://elsewhere.example/tap/history?SEARCH=mars&LAST=50&CURSOR=b';
        const asked = answerRequests(page([query('a'), query('b')], next), page([query('c')]));
        const all = new AccountQueries();
        all.askLater({ words: ' mars ', from: '2026-11-21', to: '2026-11-22' });
        await vi.runAllTimersAsync();
        expect(Object.fromEntries(asked[0]!.url.searchParams)).toEqual({
            ...{ SEARCH: 'mars', LAST: '50', AFTER: new Date(Date.parse('2026-11-21T00:00') - 1).toISOString() },
            BEFORE: new Date(Date.parse('2026-11-23T00:00')).toISOString(),
        });
        expect([idsOf(all), all.hasMore, all.limits?.days]).toEqual([['a', 'b'], true, 365]);
        await all.loadMore();
        expect(asked[1]!.url.href).toBe('http://localhost/tap/history?SEARCH=mars&LAST=50&CURSOR=b');
        expect([idsOf(all), all.hasMore]).toEqual([['a', 'b', 'c'], false]);
        await all.loadMore();
        expect(asked).toHaveLength(2);
    });

    it('belong to the last search, whatever arrives last', async () => {
        let answerLate!: (answer: HistoryPage) => void;
        const late = new Promise<HistoryPage>((resolve) => (answerLate = resolve));
        answerRequests(late, page([query('new')]));
        const all = new AccountQueries();
        all.askLater({ words: 'o' })();
        all.askLater({ words: 'ol' });
        await vi.runAllTimersAsync();
        all.askLater({ words: 'new' });
        await vi.runAllTimersAsync();
        answerLate(page([query('old')]));
        await vi.runAllTimersAsync();
        expect(idsOf(all)).toEqual(['new']);
    });

    it('stay when a later search fails, with the reason', async () => {
        answerRequests(page([query('a')]), 'the history does not answer', page([]));
        const all = new AccountQueries();
        for (const words of ['', 'x']) {
            all.askLater({ words });
            await vi.runAllTimersAsync();
        }
        expect([idsOf(all), all.attempt.error]).toEqual([['a'], 'the history does not answer']);
        all.askLater({ words: 'y' });
        await vi.runAllTimersAsync();
        expect([idsOf(all), all.attempt.error]).toEqual([[], '']);
    });

    it('are forgotten at once', async () => {
        const asked = answerRequests(page([query('a')], 'http://localhost/tap/history?CURSOR=a'), page([]));
        const all = new AccountQueries();
        all.askLater({ words: '' });
        await vi.runAllTimersAsync();
        await all.forgetAll();
        expect(asked[1]).toMatchObject({ method: 'DELETE', url: new URL('http://localhost/tap/history') });
        expect([idsOf(all), all.hasMore]).toEqual([[], false]);
    });
});
