/** The queries that this browser has run, newest first. The oldest are dropped. */

import { writeStored, readStored } from '../browser/storedValues';

export interface HistoryEntry {
    readonly id: string;
    readonly adql: string;
    readonly title: string;
    /** start, in milliseconds since 1970 */
    readonly at: number;
    readonly mode: 'sync' | 'async';
    readonly state: 'running' | 'complete' | 'failed' | 'stopped';
    readonly rows?: number;
    /** until all rows had arrived */
    readonly seconds?: number;
    /** cut by the row limit */
    readonly cut?: boolean;
    readonly message?: string;
    readonly job?: string;
}

const KEY = 'history';
const MAX_ENTRIES = 1000;
const MAX_CHARACTERS = 1_000_000;

export class QueryHistory {
    entries = $state.raw<readonly HistoryEntry[]>(readStored<HistoryEntry[]>(KEY, []));

    /** Add a query that has started. */
    noteStart(entry: Omit<HistoryEntry, 'state'>): void {
        this.#keepEntries(newestEntries([{ ...entry, state: 'running' }, ...this.#readEntries()]));
    }

    /** Update an entry, for example when its query ends. */
    updateEntry(id: string, news: Partial<HistoryEntry>): void {
        this.#keepEntries(this.#readEntries().map((entry) => (entry.id === id ? { ...entry, ...news } : entry)));
    }

    removeEntry(id: string): void {
        this.#keepEntries(this.#readEntries().filter((entry) => entry.id !== id));
    }

    clearAll(): void {
        this.#keepEntries([]);
    }

    /** Other windows of the browser write to the same store. */
    #readEntries(): readonly HistoryEntry[] {
        return readStored<readonly HistoryEntry[]>(KEY, this.entries);
    }

    #keepEntries(entries: readonly HistoryEntry[]): void {
        this.entries = entries;
        writeStored(KEY, entries);
    }
}

/** Return the newest entries, as many as are kept. */
export function newestEntries(entries: readonly HistoryEntry[]): HistoryEntry[] {
    let characters = 0;
    return entries.slice(0, MAX_ENTRIES).filter((entry, place) => {
        characters += entry.adql.length;
        return place === 0 || characters <= MAX_CHARACTERS;
    });
}

export const history = new QueryHistory();
