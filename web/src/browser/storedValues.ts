/** JSON values in the browser's storage. Without storage (private windows) nothing is kept and nothing breaks. */

type ValueStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export const PREFIX = 'skyhouse.';

export function readStored<T>(key: string, otherwise: T, storage: () => ValueStorage = () => localStorage): T {
    try {
        const value = storage().getItem(PREFIX + key);
        return value === null ? otherwise : (JSON.parse(value) as T);
    } catch {
        return otherwise;
    }
}

/** Return false if the browser has no room or no storage. */
export function writeStored(key: string, value: unknown, storage: () => ValueStorage = () => localStorage): boolean {
    try {
        if (value === undefined) storage().removeItem(PREFIX + key);
        else storage().setItem(PREFIX + key, JSON.stringify(value));
        return true;
    } catch {
        return false;
    }
}
