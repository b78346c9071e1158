/** What administrators see and change, /tap/admin: docs/administration.md. Functions raise TapError. */

import { jsonRequest } from './accountClient';
import { announcedNow } from './announcedNow.svelte';
import type { Announced } from './announcedTexts';
import { askService, formValues } from './tapRequest';
import type { Phase } from './uwsClient';

/** A query of /sync, a running job, or the download of a job's result. */
export interface RunningWork {
    readonly work_id: string;
    readonly kind: 'sync' | 'job' | 'download';
    /** the user, or the address of an anonymous client */
    readonly client: string;
    readonly lane: string;
    readonly state: string;
    /** ISO 8601 */
    readonly since: string;
    /** its beginning, on one line */
    readonly query: string;
    readonly read_rows: number;
    readonly read_bytes: number;
    /** bytes */
    readonly memory: number;
    readonly sent_bytes: number;
}

export interface ListedJob {
    readonly job: string;
    readonly phase: Phase;
    readonly client: string;
    /** ISO 8601 */
    readonly created: string;
    readonly query: string;
}

/** `user`: '' for all, '-' for anonymous ones; `phases`: none for all. */
export interface JobSelection {
    readonly user: string;
    readonly phases: readonly Phase[];
    readonly last: number;
}

export async function listRunning(): Promise<readonly RunningWork[]> {
    return (await (await askService('admin/queries')).json()) as RunningWork[];
}

export async function stopWork(id: string): Promise<void> {
    await askService(`admin/queries/${encodeURIComponent(id)}`, { method: 'DELETE' });
}

/** List the newest jobs of all users. */
export async function listSelectedJobs(wanted: JobSelection): Promise<readonly ListedJob[]> {
    return (await (await askService(selectionPath(wanted))).json()) as ListedJob[];
}

/** Path of a selection below /tap. */
export function selectionPath({ user, phases, last }: JobSelection): string {
    const asked = formValues({ LAST: last, USER: user.trim() || undefined });
    for (const phase of phases) asked.append('PHASE', phase);
    return `admin/jobs?${asked}`;
}

export const beginDrain = (note: string): Promise<void> => announce('drain', jsonRequest('POST', { note }));
export const endDrain = (): Promise<void> => announce('drain', { method: 'DELETE' });

/** `from` and `to` in UTC, as ISO 8601. */
export const addDowntime = (from: string, to: string, note: string): Promise<void> =>
    announce('downtimes', jsonRequest('POST', { from, to, note }));
export const removeDowntime = (id: string): Promise<void> =>
    announce(`downtimes/${encodeURIComponent(id)}`, { method: 'DELETE' });

export const addNote = (words: string): Promise<void> => announce('notes', jsonRequest('POST', { text: words }));
export const removeNote = (id: string): Promise<void> =>
    announce(`notes/${encodeURIComponent(id)}`, { method: 'DELETE' });

/** The answer to each change has all announcements, which the frame shows at once. */
async function announce(path: string, request: RequestInit): Promise<void> {
    announcedNow.all = (await (await askService(`admin/${path}`, request)).json()) as Announced;
}
