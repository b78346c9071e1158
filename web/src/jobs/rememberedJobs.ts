/** The jobs that this browser has started: the service keeps no list for anonymous users. */

import { keep, kept } from '../browser/storedValues';

export interface Remembered {
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
const MOST = 200;
export const KEY = 'jobs';

/** All of them, the newest first. */
export function remembered(): readonly Remembered[] {
    const value = kept<unknown>(KEY, []);
    return Array.isArray(value) ? value.filter(isOne) : [];
}

/** Change what is remembered as it is now: another tab of the browser may have written since. */
export function change(by: (all: readonly Remembered[]) => Remembered[]): readonly Remembered[] {
    const after = by(remembered())
        .toSorted((one, other) => other.created - one.created)
        .slice(0, MOST);
    keep(KEY, after);
    return after;
}

function isOne(value: unknown): value is Remembered {
    const one = value as Partial<Remembered> | null;
    return typeof one?.id === 'string' && typeof one.title === 'string' && typeof one.created === 'number';
}
