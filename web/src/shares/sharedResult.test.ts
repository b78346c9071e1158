import { beforeEach, expect, test, vi } from 'vitest';
import type { Share } from '../tap/shareClient';
import { jobOf } from '../tap/uwsClient';
import { forgetShare, keyOfShare, readRememberedShares, rememberShare } from './rememberedShares';
import { captionOf, findQuery, queryOfJob, sourceOfShare } from './sharedResult';

// the modules that ask take the service's address from the page's
vi.hoisted(() => {
    const kept = new Map<string, string>();
    const localStorage = {
        getItem: (key: string) => kept.get(key) ?? null,
        setItem: (key: string, value: string) => void kept.set(key, value),
        removeItem: (key: string) => void kept.delete(key),
        clear: () => kept.clear(),
    };
    Object.assign(globalThis, { document: { baseURI: 'https://example.org/sky/' }, localStorage });
});

beforeEach(() => localStorage.clear());

const SHARE: Share = {
    ...{
        id: 'abc',
        url: 'https://public.example/tap/shares/abc',
        title: 'T',
        note: '',
        created: '2026-11-25T08:00:00.000Z',
    },
    ...{
        creator: null,
        expires: '2036-11-25T08:00:00.000Z',
        query: 'SELECT 1',
        maxrec: 7,
        rows: 1234,
        overflow: false,
    },
    ...{ checksum: '0123456789abcdef0123', layout: '', bibtex: '', uploads: {}, omitted: [] },
    tables: {
        'tycho2.bright': { version: '1', changed: '2026-11-20T01:02:03.000Z', rows: 5 },
        'svc.old': { version: '', changed: null, rows: null },
    },
    result: { url: 'https://public.example/tap/shares/abc/result', bytes: 5, expires: '2027-11-25T08:00:00.000Z' },
};

const job = (parameters: [string, string][]): ReturnType<typeof jobOf> => ({
    ...{ id: 'j', phase: 'COMPLETED', runId: '', owner: '', created: 0, destruction: 0, executionDuration: 0 },
    ...{ query: 'SELECT 2 FROM TAP_UPLOAD.a, TAP_UPLOAD.b', info: {}, parameters },
});

test('a result at once is the query that was asked, with the uploads that it names', async () => {
    const mine = new Blob(['a']);
    const files = { mine, other: new Blob(['b']) };
    const find = (query: string) => findQuery({ kind: 'sync', query, maxrec: 3, files });
    expect(await find('SELECT 1 FROM t')).toEqual({ query: 'SELECT 1 FROM t', maxrec: 3, files: {} });
    expect((await find('SELECT k FROM tap_upload.MINE')).files).toEqual({ mine });
    expect((await find('SELECT k FROM mine')).files).toEqual({ mine });
    expect((await find('SELECT a.k FROM mine AS a, TAP_UPLOAD.MINE AS b')).files).toEqual({ mine });
    expect((await find('SELECT k FROM tycho2.mine')).files).toEqual({});
    await expect(find('SELECT k FROM TAP_UPLOAD.gone')).rejects.toThrow('are not kept');
});

test("a job's uploads are those that the page still has, in the job's order", () => {
    const [one, two] = [new Blob(['1']), new Blob(['2'])];
    const made = job([['maxrec', '9'], ['UPLOAD', 'b,param:file0'], ['UPLOAD', 'a,param:file1']]); // prettier-ignore
    const found = queryOfJob(made, { a: one, b: two, other: one });
    expect(found).toEqual({ query: made.query, maxrec: 9, files: { b: two, a: one } });
    expect(Object.keys(found.files)).toEqual(['b', 'a']);
    expect(() => queryOfJob(made, { a: one })).toThrow('are not kept');
    expect(queryOfJob(job([]))).toEqual({ query: made.query, maxrec: undefined, files: {} });
    const more = job([['UPLOAD', 'a,param:file0'], ['UPLOAD', 'unread,param:file1']]); // prettier-ignore
    expect(queryOfJob(more, { a: one, unread: two }).files).toEqual({ a: one });
    expect(queryOfJob(more, { a: one }).files).toEqual({ a: one });
});

test('the rows of a share are read from this service, whatever its public address is', () => {
    expect(sourceOfShare(SHARE, {})).toEqual({
        ...{ kind: 'sync', query: 'SELECT 1', maxrec: 7, files: {} },
        share: { address: SHARE.url, rows: 'https://example.org/sky/tap/shares/abc/result' },
    });
    expect(sourceOfShare({ ...SHARE, result: null }, {})).not.toHaveProperty('share');
});

test('a caption names rows, tables with their day, address and checksum', () => {
    expect(captionOf(SHARE, 'Archive')).toBe(
        'Data: 1,234 rows of tycho2.bright (2026-11-20), svc.old, Archive, https://public.example/tap/shares/abc (SHA-256 0123456789abcdef…).',
    );
});

test('keys of anonymous shares stay in the browser', () => {
    const share = { id: 'abc', title: 'T', created: '2026-11-25', key: 'secret' };
    rememberShare(share);
    rememberShare({ ...share, id: 'def', key: 'other' });
    expect(readRememberedShares().map(({ id }) => id)).toEqual(['def', 'abc']);
    expect(keyOfShare('abc')).toBe('secret');
    forgetShare('abc');
    expect(keyOfShare('abc')).toBe('');
    localStorage.setItem('skyhouse.shares', '[{"id": 5}, null]');
    expect(readRememberedShares()).toEqual([]);
});
