/** The queries that were run here, the newest first: kept in the browser, the oldest go. */

import { writeStored, readStored } from '../browser/storedValues';

export interface HistoryEntry {
    readonly id: string;
    readonly adql: string;
    readonly title: string;
    /** when it began, milliseconds since 1970 */
    readonly at: number;
    readonly mode: 'sync' | 'async';
    readonly state: 'running' | 'complete' | 'failed' | 'stopped';
    readonly rows?: number;
    /** until all rows were there */
    readonly seconds?: number;
    /** the row limit cut it */
    readonly cut?: boolean;
    readonly message?: string;
    readonly job?: string;
}

const KEY = 'history';
const MAX_ENTRIES = 300;
const MAX_CHARACTERS = 500_000;

export class QueryHistory {
    entries = $state.raw<readonly HistoryEntry[]>(readStored<HistoryEntry[]>(KEY, []));

    /** Note that a query has begun. */
    noteStart(entry: Omit<HistoryEntry, 'state'>): void {
        this.#keepEntries(newestEntries([{ ...entry, state: 'running' }, ...this.#readEntries()]));
    }

    /** Note how it ended, or what became known of it. */
    updateEntry(id: string, news: Partial<HistoryEntry>): void {
        this.#keepEntries(this.#readEntries().map((entry) => (entry.id === id ? { ...entry, ...news } : entry)));
    }

    removeEntry(id: string): void {
        this.#keepEntries(this.#readEntries().filter((entry) => entry.id !== id));
    }

    clearAll(): void {
        this.#keepEntries([]);
    }

    /** Other windows of the browser write it too. */
    #readEntries(): readonly HistoryEntry[] {
        return readStored<readonly HistoryEntry[]>(KEY, this.entries);
    }

    #keepEntries(entries: readonly HistoryEntry[]): void {
        this.entries = entries;
        writeStored(KEY, entries);
    }
}

/** As many of the newest as are kept. */
export function newestEntries(entries: readonly HistoryEntry[]): HistoryEntry[] {
    let characters = 0;
    return entries.slice(0, MAX_ENTRIES).filter((entry, place) => {
        characters += entry.adql.length;
        return place === 0 || characters <= MAX_CHARACTERS;
    });
}

/** Those with all the words, in their query or title. */
export function searchEntries(entries: readonly HistoryEntry[], words: string): readonly HistoryEntry[] {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    return entries.filter(({ adql, title }) => {
        const all = `${title}\n${adql}`.toLowerCase();
        return wanted.every((word) => all.includes(word));
    });
}

export const history = new QueryHistory();
