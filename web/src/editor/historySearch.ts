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
    const [first, last] = [startOfDay(wanted.from, -Infinity), startOfDay(wanted.to, Infinity)];
    return entries.filter(({ adql, title, at }) => {
        if (at < first || at >= last + DAY) return false;
        const all = `${title}\n${adql}\n${dayOf(at)}`.toLowerCase();
        return words.every((word) => all.includes(word));
    });
}

function startOfDay(day: string | undefined, otherwise: number): number {
    const instant = Date.parse(`${day}T00:00`);
    return Number.isNaN(instant) ? otherwise : instant;
}

/** "2026-11-21", in the browser's time zone. */
export function dayOf(instant: number): string {
    const day = new Date(instant);
    const parts = [day.getFullYear(), day.getMonth() + 1, day.getDate()];
    return parts.map((part) => String(part).padStart(2, '0')).join('-');
}
