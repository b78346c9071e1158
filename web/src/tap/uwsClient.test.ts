import { DOMParser } from '@xmldom/xmldom';
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import {
    createJob,
    deleteJob,
    fetchJob,
    isActive,
    isEnded,
    jobOf,
    listJobs,
    runJobToEnd,
    saveResultAs,
    setName,
    setNote,
} from './uwsClient';
import { previewOf } from './previewTable';
import { queryForm, TapError } from './tapRequest';

vi.hoisted(() => Object.assign(globalThis, { document: { baseURI: 'http://localhost/' } }));

const read = (source: string) => new DOMParser().parseFromString(source, 'application/xml') as unknown as Document;
const job = (phase: string, more = '') => `<?xml version="1.0" encoding="UTF-8"?>
<uws:job xmlns:uws="http://www.ivoa.net/xml/UWS/v1.0" xmlns:xlink="http://www.w3.org/1999/xlink"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" version="1.1">
<uws:jobId>0a1b</uws:jobId>
<uws:ownerId xsi:nil="true"/>
<uws:phase>${phase}</uws:phase>
<uws:quote xsi:nil="true"/>
<uws:creationTime>2026-11-21T18:32:20.458Z</uws:creationTime>
<uws:executionDuration>3600</uws:executionDuration>
<uws:destruction>2026-11-28T18:32:20.458Z</uws:destruction>
<uws:parameters><uws:parameter id="query">SELECT 1 &lt; 2</uws:parameter></uws:parameters>
${more}
</uws:job>`;

/** Requests are answered with this; what was asked is kept. */
function answerRequests(body: string, status = 200) {
    const asked: { url: string; init: RequestInit }[] = [];
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
        asked.push({ url, init });
        return Promise.resolve(new Response(body, { status }));
    });
    return asked;
}

beforeEach(() => vi.stubGlobal('DOMParser', DOMParser));
afterEach(() => vi.unstubAllGlobals());

describe('a job of a UWS document', () => {
    it('has its phase, instants, query and figures', () => {
        const told = jobOf(
            read(
                job(
                    'EXECUTING',
                    `<uws:jobInfo><work>
<workClass>long</workClass><stage>reading</stage><percent>77</percent><secondsLeft>1.5</secondsLeft>
<plan>in one: it is small
  read 3 columns</plan></work></uws:jobInfo>`,
                ),
            ),
        );
        expect(told).toMatchObject({ id: '0a1b', owner: '', phase: 'EXECUTING', query: 'SELECT 1 < 2' });
        expect(told.created).toBe(Date.UTC(2026, 10, 21, 18, 32, 20, 458));
        expect('quote' in told || 'started' in told).toBe(false);
        expect(told.info).toEqual({
            workClass: 'long',
            stage: 'reading',
            percent: 77,
            secondsLeft: 1.5,
            plan: 'in one: it is small\n  read 3 columns',
        });
    });

    it('has the reason for which it waits', () => {
        const reason = 'the engine does not answer. The job runs as soon as it can';
        const told = jobOf(read(job('QUEUED', `<uws:jobInfo><work><waiting>${reason}</waiting></work></uws:jobInfo>`)));
        expect(told.info).toEqual({ waiting: reason });
    });

    it('has its result, or its error with the position', () => {
        const done = jobOf(
            read(
                job(
                    'COMPLETED',
                    `<uws:results><uws:result id="result" xlink:href="http://localhost/tap/async/0a1b/results/result"
 size="5695" mime-type="text/csv"/></uws:results>`,
                ),
            ),
        );
        expect(done.result).toEqual({
            url: 'http://localhost/tap/async/0a1b/results/result',
            size: 5695,
            mime: 'text/csv',
        });
        expect('collection' in done).toBe(false);
        const failed = jobOf(
            read(
                job(
                    'ERROR',
                    `<uws:errorSummary type="transient"><uws:message>line 2, column 14: there is no column x</uws:message></uws:errorSummary>`,
                ),
            ),
        );
        expect(failed.error).toEqual({
            message: 'line 2, column 14: there is no column x',
            transient: true,
            position: { line: 2, column: 14 },
        });
    });

    it('has the address of a HATS collection next to its archive', () => {
        const address = 'http://localhost/tap/async/0a1b/results';
        const results = `<uws:results><uws:result id="result" xlink:href="${address}/result" size="9"
 mime-type="application/zip"/><uws:result id="hats" xlink:href="${address}/hats/" mime-type="text/html"/></uws:results>`;
        const done = jobOf(read(job('COMPLETED', results)));
        expect(done.result?.url).toBe(`${address}/result`);
        expect(done.collection).toBe(`${address}/hats/`);
    });

    it('is over, runs, or neither', () => {
        expect((['COMPLETED', 'ERROR', 'ABORTED'] as const).every(isEnded)).toBe(true);
        expect((['QUEUED', 'EXECUTING', 'HELD'] as const).every(isActive)).toBe(true);
        expect(isActive('PENDING') || isEnded('PENDING')).toBe(false);
    });
});

test('the uploads that a query names are parts with their own names: a table may be called like a parameter', () => {
    const file = new Blob(['a\n1']);
    const query = 'SELECT a FROM TAP_UPLOAD.maxrec';
    const { values, files } = queryForm({ QUERY: query, MAXREC: undefined }, { unread: new Blob(['b']), maxrec: file });
    expect(values).toEqual([
        ['LANG', 'ADQL'],
        ['QUERY', query],
        ['UPLOAD', 'maxrec,param:file0'],
    ]);
    expect(files).toEqual({ file0: file });
});

describe('what is asked', () => {
    it('creates and starts, with the files as tables', async () => {
        const asked = answerRequests(job('QUEUED'));
        const file = new Blob(['a\n1\n']);
        const made = await createJob({
            query: 'SELECT a FROM TAP_UPLOAD.mine',
            maxrec: 5,
            format: 'csv',
            files: { mine: file },
        });
        expect(made.phase).toBe('QUEUED');
        const body = asked[0]!.init.body as FormData;
        expect(asked[0]!.url).toBe('http://localhost/tap/async');
        expect(Object.fromEntries([...body].filter(([name]) => name !== 'file0'))).toEqual({
            LANG: 'ADQL',
            QUERY: 'SELECT a FROM TAP_UPLOAD.mine',
            MAXREC: '5',
            RESPONSEFORMAT: 'csv',
            PHASE: 'RUN',
            UPLOAD: 'mine,param:file0',
        });
        expect(body.get('file0')).toBeInstanceOf(Blob);
    });

    it('runs to the end with a checksum, or says why it failed', async () => {
        const asked = answerRequests(job('COMPLETED'));
        const signal = new AbortController().signal;
        expect((await runJobToEnd({ query: 'SELECT 1', checksum: true }, signal)).phase).toBe('COMPLETED');
        expect(String(asked[0]!.init.body)).toContain('CHECKSUM=true');
        answerRequests(job('ABORTED'));
        await expect(runJobToEnd({ query: 'SELECT 1' }, signal)).rejects.toThrow();
    });

    it('waits for a change, and lists the newest', async () => {
        const asked = answerRequests(job('EXECUTING'));
        await fetchJob('0a1b', 3);
        expect(asked[0]!.url).toBe('http://localhost/tap/async/0a1b?WAIT=3');
        const listing = answerRequests(
            `<uws:jobs xmlns:uws="u"><uws:jobref id="1"><uws:phase>ERROR</uws:phase><uws:ownerId>alice</uws:ownerId>
<uws:creationTime>2026-11-21T18:32:20.458Z</uws:creationTime></uws:jobref></uws:jobs>`,
        );
        expect(await listJobs(7, ['ERROR', 'ABORTED'])).toEqual([
            { id: '1', phase: 'ERROR', runId: '', owner: 'alice', created: Date.UTC(2026, 10, 21, 18, 32, 20, 458) },
        ]);
        expect(listing[0]!.url).toBe('http://localhost/tap/async?LAST=7&PHASE=ERROR&PHASE=ABORTED');
    });

    it('finds jobs by words and dates, and names them', async () => {
        const asked = answerRequests('<uws:jobs xmlns:uws="u"/>');
        await listJobs(5, [], { words: 'mars paper', after: 0, before: 86_400_000 });
        expect(asked[0]!.url).toBe(
            'http://localhost/tap/async?LAST=5&SEARCH=mars+paper&AFTER=1970-01-01T00%3A00%3A00.000Z&BEFORE=1970-01-02T00%3A00%3A00.000Z',
        );
        const naming = answerRequests('');
        await setName('a/b', 'Mars & Moon');
        await setNote('a/b', '');
        expect(naming.map(({ url, init }) => [url, String(init.body)])).toEqual([
            ['http://localhost/tap/async/a%2Fb/name', 'NAME=Mars+%26+Moon'],
            ['http://localhost/tap/async/a%2Fb/note', 'NOTE='],
        ]);
        const made = answerRequests(job('QUEUED'));
        await createJob({ query: 'SELECT 1', name: 'Mars' });
        expect(String(made[0]!.init.body)).toContain('RUNID=Mars');
    });

    it('deletes without asking for the list, and saves as a table', async () => {
        const asked = answerRequests('');
        await deleteJob('a/b');
        expect(asked[0]).toMatchObject({
            url: 'http://localhost/tap/async/a%2Fb',
            init: { method: 'DELETE', redirect: 'manual', credentials: 'omit' },
        });
        const saving = answerRequests(job('QUEUED'));
        await saveResultAs('0a1b', 'mydb.x', true);
        expect(saving[0]!.url).toBe('http://localhost/tap/async/0a1b/table');
        expect(String(saving[0]!.init.body)).toBe('TABLE=mydb.x&REPLACE=true');
    });

    it("is refused in the service's words", async () => {
        answerRequests("there is no job '0a1b': it never was, or has been destroyed\n", 404);
        const refused = await fetchJob('0a1b').catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(TapError);
        expect(refused).toMatchObject({
            status: 404,
            message: "there is no job '0a1b': it never was, or has been destroyed",
        });
    });
});

describe('a preview', () => {
    it('has fields and rows', () => {
        const table = read(`<VOTABLE><RESOURCE><TABLE>
<FIELD name="ra" datatype="double" unit="deg"/><FIELD name="name" datatype="char" arraysize="*"/>
<DATA><TABLEDATA><TR><TD>1.5</TD><TD/></TR></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>`);
        expect(previewOf(table)).toEqual({
            fields: [
                { name: 'ra', unit: 'deg', isNumber: true },
                { name: 'name', unit: '', isNumber: false },
            ],
            rows: [['1.5', '']],
        });
    });
});
