/** The queries that this browser has run, newest first. The oldest are dropped. */

import { StoredItems } from '../browser/storedItems';

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
    /** only the beginning of the query is known */
    readonly shortened?: boolean;
}

const MAX_ENTRIES = 1000;
const MAX_CHARACTERS = 1_000_000;

export class QueryHistory {
    readonly #stored = new StoredItems('history', isHistoryEntry);
    entries = $state.raw<readonly HistoryEntry[]>(sortEntries(this.#stored.readAll()));

    constructor() {
        this.#stored.listen(() => (this.entries = sortEntries(this.#stored.readAll())));
    }

    /** Add a query that has started. */
    noteStart(entry: Omit<HistoryEntry, 'state'>): void {
        this.#change((all) => newestEntries([{ ...entry, state: 'running' }, ...all]));
    }

    /** Update an entry, for example when its query ends. */
    updateEntry(id: string, news: Partial<HistoryEntry>): void {
        this.#change((all) => all.map((entry) => (entry.id === id ? { ...entry, ...news } : entry)));
    }

    removeEntry(id: string): void {
        this.#change((all) => all.filter((entry) => entry.id !== id));
    }

    clearAll(): void {
        this.#change(() => []);
    }

    #change(by: (all: readonly HistoryEntry[]) => readonly HistoryEntry[]): void {
        this.entries = this.#stored.change((all) => by(sortEntries(all)));
    }
}

function isHistoryEntry(value: unknown): value is HistoryEntry {
    const one = value as Partial<HistoryEntry> | null;
    return typeof one?.id === 'string' && typeof one.adql === 'string' && typeof one.at === 'number';
}

/** Put the newest first. */
function sortEntries(entries: readonly HistoryEntry[]): HistoryEntry[] {
    return entries.toSorted((one, other) => other.at - one.at || (other.id > one.id ? 1 : -1));
}

/** Return the newest entries, as many as are kept. */
export function newestEntries(entries: readonly HistoryEntry[]): HistoryEntry[] {
    let characters = 0;
    return entries.slice(0, MAX_ENTRIES).filter((entry, index) => {
        characters += entry.adql.length;
        return index === 0 || characters <= MAX_CHARACTERS;
    });
}

export const history = new QueryHistory();
