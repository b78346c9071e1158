/** What a job is called, and its figures in words. */

import type { Job, JobInfo, Phase } from '../tap/uwsClient';
import { count, counted, duration, size, text } from '../text';

const MAX_TITLE = 90;

/** Of a title within a sentence, so that the rest of it is read too. */
const MAX_QUOTED = 40;

/** The title of a job that nobody has named: the first words of its query, or what it does. */
export function titleOf(job: Job | undefined): string {
    if (!job) return text.jobs.untitled;
    const words = job.query.replace(/\s+/g, ' ').trim();
    if (words) return shortenText(words, MAX_TITLE);
    const table = findParameter(job, 'TABLE');
    if (table) return findParameter(job, 'INDEX') ? text.jobs.indexJob(table) : text.jobs.saveJob(table);
    return job.runId || text.jobs.untitled;
}

/** The first characters of a text, so many at most, and an ellipsis in the place of the others. */
const shortenText = (words: string, most: number): string =>
    words.length > most ? `${words.slice(0, most).trimEnd()}…` : words;

/** The value of a parameter, '' if it was not given; names have no case. */
export function findParameter(job: Job, name: string): string {
    return job.parameters.find(([given]) => given.toUpperCase() === name)?.[1] ?? '';
}

/** "2026-11-21 18:32:20", in UTC as all instants of the service. */
export function instantText(instant: number): string {
    return new Date(instant).toISOString().slice(0, 19).replace('T', ' ');
}

/** How far a running job is, piece by piece of a sentence. */
export function progressWords(job: Job): string[] {
    const said = text.jobs.progress;
    const { percent, pieces, piecesDone, rowsWritten, secondsLeft, stage } = job.info;
    if (job.phase === 'QUEUED') {
        return [said.waiting, ...(job.quote ? [said.endAt(instantText(job.quote))] : [])];
    }
    return [
        ...(stage || percent === undefined
            ? [(said.stages as Readonly<Record<string, string>>)[stage ?? ''] ?? said.working]
            : []),
        ...(percent === undefined ? [] : [said.percent(Math.floor(percent))]),
        ...(pieces ? [said.pieces(Math.min((piecesDone ?? 0) + 1, pieces), pieces)] : []),
        ...(secondsLeft ? [said.left(duration(secondsLeft))] : []),
        ...(rowsWritten ? [said.written(counted(rowsWritten, 'row'))] : []),
    ];
}

/** Seconds in words, "under 0.1 s" too. */
export const durationText = (seconds: number): string => (seconds < 0.1 ? text.jobs.instantly : duration(seconds));

/** "2,539,913 rows to read, 0.4 s"; '' if nothing was foreseen. */
export function estimateText({ rowsForeseen, secondsForeseen }: JobInfo): string {
    if (rowsForeseen === undefined || secondsForeseen === undefined) return '';
    return text.jobs.foreseen(counted(rowsForeseen, 'row'), durationText(secondsForeseen));
}

/** "120,521 rows, 13.9 MB"; '' if the engine has not said. */
export function readText({ rowsRead, bytesRead }: JobInfo): string {
    return rowsRead === undefined ? '' : text.jobs.read(counted(rowsRead, 'row'), size(bytesRead ?? 0));
}

/** "cut at the row limit of 100,000"; '' of a result that is whole. */
export function cutText({ queryStatus, rowLimit }: JobInfo): string {
    return queryStatus === 'OVERFLOW' ? text.jobs.overflow(count(rowLimit ?? 0)) : '';
}

/** The rows of the result so far; '' if none are told. */
export function rowsText({ rowsWritten }: JobInfo): string {
    return rowsWritten === undefined ? '' : count(rowsWritten);
}

/** "“…” is complete", or how else it has ended. */
export function endText(title: string, phase: Phase): string {
    const said = text.jobs.watch;
    const brief = shortenText(title, MAX_QUOTED);
    if (phase === 'COMPLETED') return said.completed(brief);
    return phase === 'ERROR' ? said.failed(brief) : said.stopped(brief);
}
