/** The jobs that this browser has started: the service keeps no list for anonymous users. */

import { StoredItems } from '../browser/storedItems';

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

/** Maximum number of remembered jobs: the service keeps older jobs until their destruction time. */
const MAX_JOBS = 200;
const stored = new StoredItems('jobs', isRememberedJob);

/** Return all of them, newest first. */
export function readRemembered(): readonly RememberedJob[] {
    return newestJobs(stored.readAll());
}

/** Change the stored jobs as they are now: another window may have changed them. */
export function changeRemembered(by: (all: readonly RememberedJob[]) => RememberedJob[]): readonly RememberedJob[] {
    return stored.change((all) => newestJobs(by(newestJobs(all))));
}

/** Call `handle` after another window has changed them. */
export const watchRemembered = (handle: () => void): void => stored.listen(handle);

function newestJobs(all: readonly RememberedJob[]): RememberedJob[] {
    return all.toSorted((one, other) => other.created - one.created).slice(0, MAX_JOBS);
}

function isRememberedJob(value: unknown): value is RememberedJob {
    const one = value as Partial<RememberedJob> | null;
    return typeof one?.id === 'string' && typeof one.title === 'string' && typeof one.created === 'number';
}
