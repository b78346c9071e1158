import { beforeEach, describe, expect, test, vi } from 'vitest';

vi.hoisted(() => {
    const location = { hash: '', href: 'https://archive.example/sky/#/query' };
    const page = { document: { baseURI: 'http://localhost/' }, addEventListener: () => undefined };
    Object.assign(globalThis, { location, window: globalThis, ...page });
});

import { newestEntries, QueryHistory, type HistoryEntry } from './queryHistory.svelte';
import { dayOf, searchEntries } from './historySearch';
import { PageStorage } from '../browser/storedItems';
import { fileName } from '../browser/saveFile';
import { linkTo, readQuery } from './sharedLink';

const entry = (id: string, adql = `SELECT ${id}`): HistoryEntry => ({
    ...{ id, adql, title: `About ${id}`, at: 0, mode: 'sync', state: 'complete' },
});

beforeEach(() => vi.stubGlobal('localStorage', new PageStorage()));

describe('history', () => {
    test('is bounded in number and size, the newest stay', () => {
        const many = Array.from({ length: 1100 }, (_, at) => entry(String(at)));
        expect(newestEntries(many)).toHaveLength(1000);
        expect(newestEntries(many)[0]!.id).toBe('0');
        const large = ['a', 'b', 'c', 'd'].map((id) => entry(id, 'x'.repeat(400_000)));
        expect(newestEntries(large).map(({ id }) => id)).toEqual(['a', 'b']);
        expect(newestEntries([entry('one', 'x'.repeat(1_900_000))])).toHaveLength(1);
    });

    test('outlives the page', () => {
        const before = new QueryHistory();
        before.noteStart(entry('one'));
        before.updateEntry('one', { state: 'failed', message: 'why' });
        before.noteStart(entry('two'));
        const after = new QueryHistory();
        expect(after.entries.map(({ id, state, message }) => [id, state, message])).toEqual([
            ['two', 'running', undefined],
            ['one', 'failed', 'why'],
        ]);
        after.removeEntry('two');
        expect(new QueryHistory().entries).toHaveLength(1);
        after.clearAll();
        expect(new QueryHistory().entries).toEqual([]);
    });

    test('has the queries of all windows', () => {
        const [one, other] = [new QueryHistory(), new QueryHistory()];
        one.noteStart({ ...entry('one'), at: 1 });
        other.noteStart({ ...entry('two'), at: 2 });
        one.updateEntry('one', { state: 'complete' });
        expect(one.entries.map(({ id }) => id)).toEqual(['two', 'one']);
        expect(new QueryHistory().entries.map(({ state }) => state)).toEqual(['running', 'complete']);
    });

    test('is searched by all words, in any case', () => {
        const all = [entry('ra FROM tycho2'), entry('dec')];
        const find = (words: string) => searchEntries(all, { words });
        expect(find('TYCHO2 select')).toHaveLength(1);
        expect(find('about')).toHaveLength(2);
        expect(find(' ')).toHaveLength(2);
        expect(find('tycho2 dec')).toHaveLength(0);
    });

    test('is searched by days of this time zone', () => {
        const noon = (day: number) => new Date(2026, 10, day, 12).getTime();
        const all = [20, 21, 22].map((day) => ({ ...entry(String(day)), at: noon(day) }));
        const find = (from: string, to: string, words = '') =>
            searchEntries(all, { words, from, to }).map(({ id }) => id);
        expect(dayOf(noon(21))).toBe('2026-11-21');
        expect(find('2026-11-21', '2026-11-21')).toEqual(['21']);
        expect(find('2026-11-21', '')).toEqual(['21', '22']);
        expect(find('', '2026-11-20')).toEqual(['20']);
        expect(find('', '', '2026-11-22')).toEqual(['22']);
        const midnight = new Date(2026, 10, 21).getTime();
        const edges = [midnight - 1, midnight].map((at) => ({ ...entry(String(at)), at }));
        expect(searchEntries(edges, { words: '', to: '2026-11-20' })).toHaveLength(1);
    });
});

describe('links', () => {
    const parametersOf = (link: string) => new URLSearchParams(link.split('?')[1]);

    test.each([
        'SELECT 1',
        'SELECT \'100 % & more\' AS "ü 😀" -- #?\nFROM t',
        `SELECT ${'abcdefghij, '.repeat(5000)}1`,
        Array.from({ length: 3000 }, (_, at) => Math.sin(at)).join(', '),
    ])('bring the query: %#', async (adql) => {
        const link = await linkTo(adql);
        expect(link).toMatch(/^https:\/\/archive\.example\/sky\/#\/query\?/);
        expect(await readQuery(parametersOf(link))).toBe(adql);
    });

    test('of long queries are packed', async () => {
        expect((await linkTo('SELECT ra, dec FROM t WHERE '.repeat(1000))).length).toBeLessThan(1000);
    });

    test.each(['z=%20!', 'z=AAAA', 'z=dGhpcyBpcyBub3Q'])('damaged: %s', async (query) => {
        await expect(readQuery(new URLSearchParams(query))).rejects.toThrow();
    });

    test('without a query', async () => expect(await readQuery(new URLSearchParams('x=1'))).toBe(undefined));
});

test.each([
    ['Query 1', 'csv', 'Query_1.csv'],
    ['../etc/passwd', 'fits', 'etc_passwd.fits'],
    ['Plejaden: Übersicht', 'vot', 'Plejaden_Übersicht.vot'],
    ['***', 'parquet', 'result.parquet'],
])('file of %s as %s', (title, extension, name) => expect(fileName(title, extension)).toBe(name));
