import { describe, expect, test, vi } from 'vitest';

vi.hoisted(() => {
    const page = { document: { baseURI: 'http://localhost/' }, addEventListener: () => undefined };
    Object.assign(globalThis, { window: globalThis, location: { hash: '' }, ...page });
});

import type { Job } from '../tap/uwsClient';
import { findDifference, originOfJob, originOfRun } from './resultOrigin';
import type { RunRequest } from './queryRun.svelte';

const request = (adql: string, more: Partial<RunRequest> = {}): RunRequest => ({
    ...{ adql, text: adql, offset: 0, title: '', mode: 'auto', format: 'votable', files: {} },
    ...{ noteJob: () => undefined, loadEstimate: () => Promise.reject(new Error('not asked')) },
    ...more,
});
const now = (adql: string, maxrec?: number, sent: Record<string, Blob> = {}) => ({ adql, maxrec, sent });

describe('a result', () => {
    const origin = originOfRun(request('SELECT ra\nFROM t', { maxrec: 10 }));

    test.each([
        ['SELECT ra\nFROM t', 10, undefined],
        [' select ra FROM t -- laid out\n', 10, undefined],
        ['SELECT RA\nFROM t', 10, 'text'],
        ["SELECT 'ra'\nFROM t", 10, 'text'],
        ['SELECT ra\nFROM t WHERE ra > 1', 10, 'text'],
        ['', 10, 'text'],
        ['SELECT ra\nFROM t', 11, 'limit'],
        ['SELECT ra\nFROM t', undefined, 'limit'],
    ])('next to %j with limit %s', (adql, maxrec, expected) => {
        expect(findDifference(origin, now(adql, maxrec))).toBe(expected);
    });

    test('of a selection stays current while the text contains it', () => {
        const selected = originOfRun(request('SELECT 1', { text: 'SELECT 1\n;SELECT 2', offset: 0 }));
        expect(findDifference(selected, now('SELECT 1\n;SELECT 3'))).toBe(undefined);
        expect(findDifference(selected, now('SELECT 9\n;SELECT 2'))).toBe('text');
        expect(selected.text).toBe('SELECT 1\n;SELECT 2');
    });

    test('of a replaced file', () => {
        const adql = 'SELECT * FROM mine, TAP_UPLOAD.MINE AS again';
        const [one, other] = [new Blob(['a']), new Blob(['b'])];
        const uploaded = originOfRun(request(adql, { files: { mine: one } }));
        expect(findDifference(uploaded, now(adql, undefined, { mine: one }))).toBe(undefined);
        expect(findDifference(uploaded, now(adql, undefined, { mine: other }))).toBe('files');
        expect(findDifference(uploaded, now(adql, undefined, {}))).toBe(undefined);
    });

    test('of a job is compared with its query and row limit', () => {
        const job = { query: 'SELECT 1', parameters: [['maxrec', '5']] } as unknown as Job;
        expect(findDifference(originOfJob(job, false), now('SELECT 1', 5))).toBe(undefined);
        expect(findDifference(originOfJob(job, false), now('SELECT 1'))).toBe('limit');
        expect(findDifference(originOfJob(job, false), now('SELECT 1 + 1', 5))).toBe('text');
        expect(findDifference(originOfJob(job, true), now('SELECT 1 + 1', 5))).toBe(undefined);
    });
});
