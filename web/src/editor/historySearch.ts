/** The search in the history of queries: by words and by days. */

import type { HistoryEntry } from './queryHistory.svelte';

const DAY = 86_400_000;

/** Days such as 2026-11-21, in the browser's time zone; '' without a bound. */
export interface HistoryFilter {
    readonly words: string;
    readonly from?: string;
    readonly to?: string;
}

/** Return the entries of these days whose query, title or day contains all words. */
export function searchEntries(entries: readonly HistoryEntry[], wanted: HistoryFilter): readonly HistoryEntry[] {
    const words = wanted.words.toLowerCase().split(/\s+/).filter(Boolean);
    const { first = -Infinity, end = Infinity } = boundsOf(wanted);
    return entries.filter(({ adql, title, at }) => {
        if (at < first || at >= end) return false;
        const all = `${title}\n${adql}\n${dayOf(at)}`.toLowerCase();
        return words.every((word) => all.includes(word));
    });
}

/** Return the first instant of these days and that after them, in milliseconds since 1970. */
export function boundsOf({ from, to }: HistoryFilter): { readonly first?: number; readonly end?: number } {
    const [first, last] = [from, to].map((day) => Date.parse(`${day}T00:00`)) as [number, number];
    return { ...(!Number.isNaN(first) && { first }), ...(!Number.isNaN(last) && { end: last + DAY }) };
}

/** "2026-11-21", in the browser's time zone. */
export function dayOf(instant: number): string {
    const day = new Date(instant);
    const parts = [day.getFullYear(), day.getMonth() + 1, day.getDate()];
    return parts.map((part) => String(part).padStart(2, '0')).join('-');
}
