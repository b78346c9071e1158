/** Values that the browser keeps for this portal, as JSON. Nothing breaks where it keeps none (private windows). */

const PREFIX = 'skyhouse.';

export function readStored<T>(key: string, otherwise: T, storage: () => Storage = () => localStorage): T {
    try {
        const value = storage().getItem(PREFIX + key);
        return value === null ? otherwise : (JSON.parse(value) as T);
    } catch {
        return otherwise;
    }
}

/** False if the browser has no room for it or keeps nothing. */
export function writeStored(key: string, value: unknown, storage: () => Storage = () => localStorage): boolean {
    try {
        if (value === undefined) storage().removeItem(PREFIX + key);
        else storage().setItem(PREFIX + key, JSON.stringify(value));
        return true;
    } catch {
        return false;
    }
}
