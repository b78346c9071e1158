/** The jobs that this browser has started: the service keeps no list for anonymous users. */

import { writeStored, readStored } from '../browser/storedValues';

export interface RememberedJob {
    readonly id: string;
    readonly title: string;
    /** milliseconds since 1970 */
    readonly created: number;
    /** '' if anonymous; other users may not see it */
    readonly owner: string;
    /** destruction time, milliseconds since 1970 */
    readonly until?: number;
    /** the user knows that it has ended */
    readonly told: boolean;
}

/** More would only fill the browser's store; older jobs stay at the service until their destruction. */
const MAX_JOBS = 200;
export const KEY = 'jobs';

/** Return all of them, newest first. */
export function readRemembered(): readonly RememberedJob[] {
    const value = readStored<unknown>(KEY, []);
    return Array.isArray(value) ? value.filter(isRememberedJob) : [];
}

/** Change the stored list as it is now: another tab may have written it. */
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
