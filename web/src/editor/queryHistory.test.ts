import { beforeEach, describe, expect, test, vi } from 'vitest';

vi.hoisted(() => {
    const location = { hash: '', href: 'https://archive.example/sky/#/query' };
    const page = { document: { baseURI: 'http://localhost/' }, addEventListener: () => undefined };
    Object.assign(globalThis, { location, window: globalThis, ...page });
});

import { newestEntries, QueryHistory, searchEntries, type HistoryEntry } from './queryHistory.svelte';
import { PageStorage } from '../browser/storedItems';
import { fileName } from '../browser/saveFile';
import { linkTo, readQuery } from './sharedLink';
import { uploadsOf } from './uploadedTables';

const entry = (id: string, adql = `SELECT ${id}`): HistoryEntry => ({
    ...{ id, adql, title: `About ${id}`, at: 0, mode: 'sync', state: 'complete' },
});

beforeEach(() => vi.stubGlobal('localStorage', new PageStorage()));

describe('history', () => {
    test('is bounded in number and size, the newest stay', () => {
        const many = Array.from({ length: 400 }, (_, at) => entry(String(at)));
        expect(newestEntries(many)).toHaveLength(300);
        expect(newestEntries(many)[0]!.id).toBe('0');
        const large = ['a', 'b', 'c', 'd'].map((id) => entry(id, 'x'.repeat(200_000)));
        expect(newestEntries(large).map(({ id }) => id)).toEqual(['a', 'b']);
        expect(newestEntries([entry('one', 'x'.repeat(900_000))])).toHaveLength(1);
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
        expect(searchEntries(all, 'TYCHO2 select')).toHaveLength(1);
        expect(searchEntries(all, 'about')).toHaveLength(2);
        expect(searchEntries(all, ' ')).toHaveLength(2);
        expect(searchEntries(all, 'tycho2 dec')).toHaveLength(0);
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

test.each([
    ['SELECT * FROM t', []],
    ['SELECT * FROM TAP_UPLOAD.mine AS m JOIN tap_upload."my 2" ON m.a = TAP_UPLOAD.mine.a', ['mine', 'my 2']],
    ["SELECT 'TAP_UPLOAD.a' -- TAP_UPLOAD.b\nFROM TAP_UPLOAD.", []],
])('uploads of %s', (adql, names) => expect(uploadsOf(adql)).toEqual(names));
