import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Job } from '../tap/uwsClient';
import { changeRemembered, readRemembered } from './rememberedJobs';
import { PageStorage } from '../browser/storedItems';
import { RequestSlots } from '../browser/requestSlots';
import { archivedText, canRunAgain, cutText, endText, progressWords, titleOf } from './jobWording';

vi.hoisted(() => Object.assign(globalThis, { document: { baseURI: 'http://localhost/' } }));

let store = new PageStorage();
vi.stubGlobal('localStorage', store);

const job: Job = {
    id: '1',
    phase: 'EXECUTING',
    runId: '',
    owner: '',
    created: 0,
    destruction: 0,
    executionDuration: 60,
    parameters: [],
    query: 'SELECT *\n  FROM t',
    info: {},
};
const one = (id: string, created: number) => ({ id, title: id, created, owner: '', told: false });

describe("the browser's memory", () => {
    beforeEach(() => vi.stubGlobal('localStorage', (store = new PageStorage())));

    it('keeps the newest, and takes what another window has written', () => {
        changeRemembered(() => [one('a', 1)]);
        store.setItem('skyhouse.jobs.b', JSON.stringify(one('b', 2)));
        expect(changeRemembered((all) => [one('c', 3), ...all]).map(({ id }) => id)).toEqual(['c', 'b', 'a']);
        changeRemembered(() => Array.from({ length: 300 }, (_, at) => one(String(at), at)));
        expect(readRemembered()).toHaveLength(200);
        expect(readRemembered()[0]!.id).toBe('299');
    });

    it('is empty where something else was kept', () => {
        for (const other of ['{"a": 1}', '[null, 3, {"id": 3}]', 'no JSON', 'null']) {
            store.setItem('skyhouse.jobs.x', other);
            expect(readRemembered()).toEqual([]);
        }
    });
});

describe('slots', () => {
    it('are taken in order, and given back by what fails', async () => {
        const slots = new RequestSlots(2);
        const done: number[] = [];
        let [at, most] = [0, 0];
        const work = (number: number) =>
            slots.runInSlot(async () => {
                most = Math.max(most, ++at);
                await Promise.resolve();
                at--;
                done.push(number);
                if (number === 0) throw new Error('no');
            });
        const all = await Promise.allSettled([0, 1, 2, 3, 4].map(work));
        expect([most, done]).toEqual([2, [0, 1, 2, 3, 4]]);
        expect(all.map(({ status }) => status).filter((status) => status === 'rejected')).toHaveLength(1);
    });
});

describe('words', () => {
    it('call a job by its query, or by what it does', () => {
        expect(titleOf(job)).toBe('SELECT * FROM t');
        expect(titleOf({ ...job, query: 'x'.repeat(200) })).toMatch(/^x{90}…$/);
        expect(titleOf({ ...job, query: '', parameters: [['TABLE', 'mydb.a']] })).toBe('Save as mydb.a');
        const index: Job['parameters'] = [
            ['TABLE', 'mydb.a'],
            ['INDEX', 'id'],
        ];
        expect(titleOf({ ...job, query: '', parameters: index })).toBe('Index of mydb.a');
        expect(titleOf({ ...job, query: '', runId: 'mine' })).toBe('mine');
    });

    it('tell what became of a removed result, and what to do', () => {
        const archived: Job = { ...job, phase: 'ARCHIVED', info: { resultDeleted: 'deleted at noon' } };
        expect(archivedText(archived)).toBe(
            'The result was deleted at noon. “Run again” starts a new job with the same query.',
        );
        expect(canRunAgain(job), 'it has not ended').toBe(false);
        const withFiles: Job = { ...archived, parameters: [['upload', 't,param:f']] };
        expect(canRunAgain(withFiles)).toBe(false);
        expect(archivedText(withFiles)).toContain('run it with your files');
        expect(archivedText({ ...archived, query: '', info: {} })).toBe(
            'The result was deleted to make room for newer results.',
        );
    });

    it('tell how far it is', () => {
        expect(progressWords(job)).toEqual(['working']);
        expect(progressWords({ ...job, info: { stage: 'matching', rowsWritten: 5 } })).toEqual([
            'matching',
            '5 rows so far',
        ]);
        const info = {
            stage: 'reading',
            percent: 41.9,
            pieces: 12,
            piecesDone: 4,
            secondsLeft: 200,
            rowsWritten: 1200,
        };
        expect(progressWords({ ...job, info: info })).toEqual([
            'reading',
            '41 %',
            'piece 5 of 12',
            '3 min 20 s left',
            '1,200 rows so far',
        ]);
        expect(progressWords({ ...job, phase: 'QUEUED', quote: Date.UTC(2026, 10, 21, 18, 32) })).toEqual([
            'waiting for its turn',
            'expected to end at 2026-11-21 18:32:00',
        ]);
        expect(progressWords({ ...job, info: { percent: 100, pieces: 3, piecesDone: 3 } })).toEqual([
            '100 %',
            'piece 3 of 3',
        ]);
    });

    it('tell the end', () => {
        expect(endText('a', 'COMPLETED')).toContain('complete');
        expect(endText('a', 'ERROR')).toContain('failed');
        expect(endText('a', 'ABORTED')).toContain('stopped');
        expect(endText('SELECT '.repeat(12), 'COMPLETED')).toMatch(/^“.{39,40}…” is complete$/);
    });

    it('tell a cut result', () => {
        expect(cutText({ queryStatus: 'OVERFLOW', rowLimit: 100_000 })).toBe('cut at the row limit of 100,000');
        expect(cutText({ queryStatus: 'OK', rowLimit: 100_000 })).toBe('');
    });
});
