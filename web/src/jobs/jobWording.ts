/** Titles and figures of a job in words. */

import type { Job, JobInfo, Phase } from '../tap/uwsClient';
import { count, counted, duration, size, text } from '../text';

const MAX_TITLE = 90;

/** Within a sentence, so that the rest of it is seen too. */
const MAX_QUOTED = 40;

/** Return the title of an unnamed job: the start of its query, or what it does. */
export function titleOf(job: Job | undefined): string {
    if (!job) return text.jobs.untitled;
    const words = job.query.replace(/\s+/g, ' ').trim();
    if (words) return shortenText(words, MAX_TITLE);
    const table = findParameter(job, 'TABLE');
    if (table) return findParameter(job, 'INDEX') ? text.jobs.indexJob(table) : text.jobs.saveJob(table);
    return job.runId || text.jobs.untitled;
}

/** Shorten a text to `most` characters with an ellipsis. */
const shortenText = (words: string, most: number): string =>
    words.length > most ? `${words.slice(0, most).trimEnd()}…` : words;

/** Return the value of a parameter, '' if it is missing; names ignore case. */
export function findParameter(job: Job, name: string): string {
    return job.parameters.find(([given]) => given.toUpperCase() === name)?.[1] ?? '';
}

/** Whether a job whose result is gone can be created again: its uploaded files are not kept. */
export const canRunAgain = (job: Job): boolean =>
    job.phase === 'ARCHIVED' && job.query !== '' && !findParameter(job, 'UPLOAD');

/** Why an archived job has no result, and what to do. */
export function archivedText(job: Job): string {
    const texts = text.jobs;
    const way = canRunAgain(job) ? texts.archivedHow : job.query ? texts.archivedFiles : '';
    return `${texts.archived(job.info.resultDeleted ?? '')} ${way}`.trim();
}

/** "2026-11-21 18:32:20", in UTC as everywhere in the service. */
export function instantText(instant: number): string {
    return new Date(instant).toISOString().slice(0, 19).replace('T', ' ');
}

/** Return the progress of a running job as parts of a sentence. */
export function progressWords(job: Job): string[] {
    const texts = text.jobs.progress;
    const { percent, pieces, piecesDone, rowsWritten, secondsLeft, stage } = job.info;
    if (job.phase === 'QUEUED') {
        return [texts.waiting, ...(job.quote ? [texts.endAt(instantText(job.quote))] : [])];
    }
    return [
        ...(stage || percent === undefined
            ? [(texts.stages as Readonly<Record<string, string>>)[stage ?? ''] ?? texts.working]
            : []),
        ...(percent === undefined ? [] : [texts.percent(Math.floor(percent))]),
        ...(pieces ? [texts.pieces(Math.min((piecesDone ?? 0) + 1, pieces), pieces)] : []),
        ...(secondsLeft ? [texts.left(duration(secondsLeft))] : []),
        ...(rowsWritten ? [texts.written(counted(rowsWritten, 'row'))] : []),
    ];
}

/** Format seconds, down to "under 0.1 s". */
export const durationText = (seconds: number): string => (seconds < 0.1 ? text.jobs.instantly : duration(seconds));

/** "2,539,913 rows to read, 0.4 s"; '' without an estimate. */
export function estimateText({ rowsForeseen, secondsForeseen }: JobInfo): string {
    if (rowsForeseen === undefined || secondsForeseen === undefined) return '';
    return text.jobs.foreseen(counted(rowsForeseen, 'row'), durationText(secondsForeseen));
}

/** "120,521 rows, 13.9 MB"; '' if unknown. */
export function readText({ rowsRead, bytesRead }: JobInfo): string {
    return rowsRead === undefined ? '' : text.jobs.read(counted(rowsRead, 'row'), size(bytesRead ?? 0));
}

/** "cut at the row limit of 100,000"; '' for a complete result. */
export function cutText({ queryStatus, rowLimit }: JobInfo): string {
    return queryStatus === 'OVERFLOW' ? text.jobs.overflow(count(rowLimit ?? 0)) : '';
}

/** The rows of the result so far; '' if unknown. */
export function rowsText({ rowsWritten }: JobInfo): string {
    return rowsWritten === undefined ? '' : count(rowsWritten);
}

/** "“…” is complete", or how else it ended. */
export function endText(title: string, phase: Phase): string {
    const texts = text.jobs.watch;
    const brief = shortenText(title, MAX_QUOTED);
    if (phase === 'COMPLETED') return texts.completed(brief);
    return phase === 'ERROR' ? texts.failed(brief) : texts.stopped(brief);
}
