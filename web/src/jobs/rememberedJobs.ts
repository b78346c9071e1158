/** The jobs that this browser has started: the service keeps no list for anonymous users. */

import { writeStored, readStored } from '../browser/storedValues';

export interface RememberedJob {
    readonly id: string;
    readonly title: string;
    /** milliseconds since 1970 */
    readonly created: number;
    /** whose it is, '' if anonymous: others are refused it */
    readonly owner: string;
    /** when the service removes it, milliseconds since 1970 */
    readonly until?: number;
    /** its end has been told to the user */
    readonly told: boolean;
}

/** More would only fill the browser's store; those above it are still at the service until their destruction. */
const MAX_JOBS = 200;
export const KEY = 'jobs';

/** All of them, the newest first. */
export function readRemembered(): readonly RememberedJob[] {
    const value = readStored<unknown>(KEY, []);
    return Array.isArray(value) ? value.filter(isRememberedJob) : [];
}

/** Change what is remembered as it is now: another tab of the browser may have written since. */
export function changeRemembered(by: (all: readonly RememberedJob[]) => RememberedJob[]): readonly RememberedJob[] {
    const after = by(readRemembered())
        .toSorted((one, other) => other.created - one.created)
        .slice(0, MAX_JOBS);
    writeStored(KEY, after);
    return after;
}

function isRememberedJob(value: unknown): value is RememberedJob {
    const one = value as Partial<RememberedJob> | null;
    return typeof one?.id === 'string' && typeof one.title === 'string' && typeof one.created === 'number';
}
