/** The shares that this browser has made without a login: the service keeps no list of them, and deletes them by key. */

import { readStored, writeStored } from '../browser/storedValues';

export interface RememberedShare {
    readonly id: string;
    readonly title: string;
    /** ISO 8601 */
    readonly created: string;
    readonly key: string;
}

const KEY = 'shares';
const MAX_SHARES = 500;

/** Return all of them, the newest first. */
export function readRememberedShares(): readonly RememberedShare[] {
    const stored = readStored<unknown>(KEY, []);
    return Array.isArray(stored) ? stored.filter(isRemembered) : [];
}

export function rememberShare(share: RememberedShare): void {
    writeStored(KEY, [share, ...readRememberedShares()].slice(0, MAX_SHARES));
}

export function forgetShare(id: string): void {
    writeStored(
        KEY,
        readRememberedShares().filter((one) => one.id !== id),
    );
}

/** Return the key with which the share can be deleted; '' if another browser, or a user, has made it. */
export const keyOfShare = (id: string): string => readRememberedShares().find((one) => one.id === id)?.key ?? '';

function isRemembered(value: unknown): value is RememberedShare {
    const one = value as Partial<RememberedShare> | null;
    return typeof one?.id === 'string' && typeof one.title === 'string' && typeof one.key === 'string';
}
