/** The queries that were run here, the newest first: kept in the browser, the oldest go. */

import { keep, kept } from '../browser/storedValues';

export interface Entry {
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
const MOST = 300;
const MOST_CHARACTERS = 500_000;

export class History {
    entries = $state.raw<readonly Entry[]>(kept<Entry[]>(KEY, []));

    /** Note that a query has begun. */
    began(entry: Omit<Entry, 'state'>): void {
        this.#keep(bounded([{ ...entry, state: 'running' }, ...this.#kept()]));
    }

    /** Note how it ended, or what became known of it. */
    changed(id: string, news: Partial<Entry>): void {
        this.#keep(this.#kept().map((entry) => (entry.id === id ? { ...entry, ...news } : entry)));
    }

    remove(id: string): void {
        this.#keep(this.#kept().filter((entry) => entry.id !== id));
    }

    clear(): void {
        this.#keep([]);
    }

    /** Other windows of the browser write it too. */
    #kept(): readonly Entry[] {
        return kept<readonly Entry[]>(KEY, this.entries);
    }

    #keep(entries: readonly Entry[]): void {
        this.entries = entries;
        keep(KEY, entries);
    }
}

/** As many of the newest as are kept. */
export function bounded(entries: readonly Entry[]): Entry[] {
    let characters = 0;
    return entries.slice(0, MOST).filter((entry, place) => {
        characters += entry.adql.length;
        return place === 0 || characters <= MOST_CHARACTERS;
    });
}

/** Those with all the words, in their query or title. */
export function searched(entries: readonly Entry[], words: string): readonly Entry[] {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    return entries.filter(({ adql, title }) => {
        const all = `${title}\n${adql}`.toLowerCase();
        return wanted.every((word) => all.includes(word));
    });
}

export const history = new History();
