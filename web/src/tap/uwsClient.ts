/** UWS 1.1 jobs at /tap/async. Instants are milliseconds since 1970. */

import { text } from '../text';
import {
    askService,
    childText,
    fetchDocument,
    findElements,
    formValues,
    findTextPosition,
    queryBody,
    parseXml,
    type TextPosition,
} from './tapRequest';

export type Phase =
    | 'PENDING'
    | 'QUEUED'
    | 'EXECUTING'
    | 'COMPLETED'
    | 'ERROR'
    | 'ABORTED'
    | 'HELD'
    | 'SUSPENDED'
    | 'ARCHIVED'
    | 'UNKNOWN';

/** What the service reports about a job's work: docs/async.md. Times in seconds. */
export interface JobInfo {
    /** the user's remarks */
    readonly note?: string;
    readonly workClass?: string;
    readonly rowsForeseen?: number;
    readonly bytesForeseen?: number;
    readonly secondsForeseen?: number;
    readonly seconds?: number;
    readonly rowsWritten?: number;
    readonly bytesWritten?: number;
    readonly rowLimit?: number;
    readonly queryStatus?: string;
    /** message that the row limit cuts the result */
    readonly warning?: string;
    /** why a queued job waits for the engine, and until when */
    readonly waiting?: string;
    readonly rowsRead?: number;
    readonly bytesRead?: number;
    readonly peakMemory?: number;
    readonly rowsExpected?: number;
    /** what the engine is doing, for a running job */
    readonly stage?: string;
    readonly percent?: number;
    readonly secondsLeft?: number;
    readonly pieces?: number;
    readonly piecesDone?: number;
    readonly resultOf?: string;
    /** of the rows, with CHECKSUM=true */
    readonly checksum?: string;
    /** of an archived job: when its result was deleted, and the way out */
    readonly resultDeleted?: string;
    readonly plan?: string;
}

export interface JobError {
    readonly message: string;
    /** the same job may succeed later */
    readonly transient: boolean;
    readonly position?: TextPosition;
}

/** An entry of the service's list. */
export interface JobReference {
    readonly id: string;
    readonly phase: Phase;
    readonly runId: string;
    /** '' if anonymous */
    readonly owner: string;
    readonly created: number;
}

export interface Job extends JobReference {
    /** expected end */
    readonly quote?: number;
    readonly started?: number;
    readonly ended?: number;
    /** destruction time of the job and its result */
    readonly destruction: number;
    /** seconds */
    readonly executionDuration: number;
    readonly parameters: readonly (readonly [name: string, value: string])[];
    /** '' for jobs without a query, such as saving a table */
    readonly query: string;
    readonly result?: { readonly url: string; readonly size: number; readonly mime: string };
    /** address of a result that is a HATS collection, which is no table */
    readonly collection?: string;
    readonly error?: JobError;
    readonly info: JobInfo;
}

export interface NewJob {
    readonly query: string;
    /** the user's name for it */
    readonly name?: string;
    readonly maxrec?: number;
    /** a format of /capabilities; default VOTable */
    readonly format?: string;
    /** tables that the query calls TAP_UPLOAD.name */
    readonly files?: Record<string, Blob>;
    /** note the checksum of the rows and the versions of the tables: docs/shares.md */
    readonly checksum?: boolean;
}

const ENDED: readonly Phase[] = ['COMPLETED', 'ERROR', 'ABORTED', 'ARCHIVED'];

/** Whether the phase is final. */
export const isEnded = (phase: Phase): boolean => ENDED.includes(phase);

/** Whether a job in this phase waits or runs. */
export const isActive = (phase: Phase): boolean => !isEnded(phase) && phase !== 'PENDING' && phase !== 'UNKNOWN';

/** Create a job and start it. Raises TapError, as all functions below. */
export async function createJob(wanted: NewJob): Promise<Job> {
    const { query, name, maxrec, format, files, checksum } = wanted;
    const asked = { QUERY: query, RUNID: name || undefined, MAXREC: maxrec, RESPONSEFORMAT: format };
    const body = queryBody({ ...asked, CHECKSUM: checksum ? 'true' : undefined, PHASE: 'RUN' }, files);
    return jobOf(await fetchDocument('async', { method: 'POST', body }));
}

/** Fetch a job; with `wait`, after a change of its phase or that many seconds. */
export async function fetchJob(id: string, wait = 0, signal?: AbortSignal): Promise<Job> {
    return jobOf(await fetchDocument(jobPath(id) + (wait ? `?WAIT=${wait}` : ''), signal ? { signal } : {}));
}

/** Seconds that one request waits for a job's end. */
const WAIT = 30;

/** Create a job and wait for its result. Raises Error with the service's reason; stops the job with `signal`. */
export async function runJobToEnd(wanted: NewJob, signal?: AbortSignal): Promise<Job> {
    const { id } = await createJob(wanted);
    try {
        for (;;) {
            const job = await fetchJob(id, WAIT, signal);
            if (job.phase === 'COMPLETED') return job;
            if (isEnded(job.phase)) throw new Error(job.error?.message ?? text.editor.run.failed);
        }
    } catch (error) {
        if (signal?.aborted) void abortJob(id).catch(() => undefined);
        throw error;
    }
}

/** Which jobs to find: docs/async.md. Instants are milliseconds since 1970, exclusive. */
export interface JobFilter {
    readonly words?: string;
    readonly after?: number;
    readonly before?: number;
}

/** List the user's jobs, newest first; anonymous users have no list. */
export async function listJobs(
    last = 100,
    phases: readonly Phase[] = [],
    { words, after, before }: JobFilter = {},
): Promise<JobReference[]> {
    const asInstant = (at?: number) => (at === undefined ? undefined : new Date(at).toISOString());
    const asked = formValues({
        LAST: last,
        SEARCH: words || undefined,
        AFTER: asInstant(after),
        BEFORE: asInstant(before),
    });
    for (const phase of phases) asked.append('PHASE', phase);
    return findElements(await fetchDocument(`async?${asked}`), 'jobref').map((reference) => ({
        id: reference.getAttribute('id') ?? '',
        ...referenceOf(reference),
    }));
}

export async function runJob(id: string): Promise<void> {
    await askService(`${jobPath(id)}/phase`, { method: 'POST', body: formValues({ PHASE: 'RUN' }) });
}

/** Abort a job and the engine's work for it. */
export async function abortJob(id: string): Promise<void> {
    await askService(`${jobPath(id)}/phase`, { method: 'POST', body: formValues({ PHASE: 'ABORT' }) });
}

/** Give a job another name, '' for none. */
export async function setName(id: string, name: string): Promise<void> {
    await askService(`${jobPath(id)}/name`, { method: 'POST', body: formValues({ NAME: name }) });
}

/** Set the user's remarks on a job. */
export async function setNote(id: string, note: string): Promise<void> {
    await askService(`${jobPath(id)}/note`, { method: 'POST', body: formValues({ NOTE: note }) });
}

/** Delete a job and its result. */
export async function deleteJob(id: string): Promise<void> {
    // the answer redirects to the list of jobs, which is not needed
    await askService(jobPath(id), { method: 'DELETE', redirect: 'manual' });
}

/** Request another destruction time. Return the time that the service grants. */
export async function setDestruction(id: string, instant: number): Promise<number> {
    const body = formValues({ DESTRUCTION: new Date(instant).toISOString() });
    await askService(`${jobPath(id)}/destruction`, { method: 'POST', body });
    return Date.parse(await (await askService(`${jobPath(id)}/destruction`)).text());
}

/** Save the result as `table` ('mydb.name'). Return the running job that does so. */
export async function saveResultAs(id: string, table: string, replace = false): Promise<Job> {
    const body = formValues({ TABLE: table, REPLACE: replace ? 'true' : undefined });
    return jobOf(await fetchDocument(`${jobPath(id)}/table`, { method: 'POST', body }));
}

/** Path of a job below /tap. */
export const jobPath = (id: string): string => `async/${encodeURIComponent(id)}`;

/** Path of a job's result below /tap. */
export const resultPath = (id: string): string => `${jobPath(id)}/results/result`;

/** Read a job from a UWS document. */
export function jobOf(source: Document | string): Job {
    const root = (typeof source === 'string' ? parseXml(source) : source).documentElement;
    const parameters = findElements(root, 'parameter').map(
        (parameter) => [parameter.getAttribute('id') ?? '', parameter.textContent] as const,
    );
    const failure = findElements(root, 'errorSummary')[0];
    const results = findElements(root, 'result');
    const [result] = results;
    const collection = results.find((each) => each.getAttribute('id') === 'hats');
    return {
        id: childText(root, 'jobId'),
        ...referenceOf(root),
        ...instantsOf(root),
        destruction: readInstant(root, 'destruction') ?? 0,
        executionDuration: Number(childText(root, 'executionDuration')),
        parameters,
        query: parameters.find(([name]) => name.toUpperCase() === 'QUERY')?.[1] ?? '',
        info: infoOf(findElements(root, 'jobInfo')[0]?.children[0]),
        ...(failure && { error: errorOf(failure) }),
        ...(result && { result: resultOf(result) }),
        ...(collection && { collection: resultOf(collection).url }),
    };
}

function referenceOf(from: Element): Omit<JobReference, 'id'> {
    return {
        phase: (childText(from, 'phase') || 'UNKNOWN') as Phase,
        runId: childText(from, 'runId'),
        owner: childText(from, 'ownerId'),
        created: readInstant(from, 'creationTime') ?? 0,
    };
}

function instantsOf(from: Element): Pick<Job, 'quote' | 'started' | 'ended'> {
    const [quote, started, ended] = ['quote', 'startTime', 'endTime'].map((name) => readInstant(from, name));
    return {
        ...(quote !== undefined && { quote }),
        ...(started !== undefined && { started }),
        ...(ended !== undefined && { ended }),
    };
}

function readInstant(from: Element, name: string): number | undefined {
    const value = Date.parse(childText(from, name));
    return Number.isNaN(value) ? undefined : value;
}

const WORDS = [
    'note',
    'workClass',
    'stage',
    'queryStatus',
    'warning',
    'waiting',
    'resultOf',
    'resultDeleted',
    'checksum',
    'plan',
];

function infoOf(from: Element | undefined): JobInfo {
    const entries = [...(from?.children ?? [])].map(({ localName, textContent }) => {
        const value = textContent.trim();
        return [localName, WORDS.includes(localName) ? value : Number(value)] as const;
    });
    return Object.fromEntries(entries.filter(([, value]) => typeof value === 'string' || Number.isFinite(value)));
}

function errorOf(from: Element): JobError {
    const message = childText(from, 'message');
    const position = findTextPosition(message);
    return { message, transient: from.getAttribute('type') === 'transient', ...(position && { position }) };
}

function resultOf(from: Element): NonNullable<Job['result']> {
    return {
        url: from.getAttributeNS('http://www.w3.org/1999/xlink', 'href') ?? '',
        size: Number(from.getAttribute('size') ?? 0),
        mime: from.getAttribute('mime-type') ?? '',
    };
}
