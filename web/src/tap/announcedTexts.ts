/** What the operator announces: /tap/announcements. */

import { text } from '../text';

export interface Downtime {
    readonly id: string;
    /** ISO 8601, in UTC */
    readonly from: string;
    readonly to: string;
    readonly note: string;
}

export interface Note {
    readonly id: string;
    readonly text: string;
}

export interface Announced {
    /** why the service accepts no new queries; '' if it accepts them */
    readonly draining: string;
    readonly downtimes: readonly Downtime[];
    readonly notes: readonly Note[];
}

export interface Announcement {
    readonly kind: 'warn' | 'info';
    readonly text: string;
}

/** Return a sentence for each announcement, the most urgent first. */
export function describeAnnouncements(announced: Announced): Announcement[] {
    const { common } = text;

    return [
        ...(announced.draining ? [{ kind: 'warn' as const, text: common.draining(announced.draining) }] : []),
        ...announced.downtimes.map(({ from, to, note }) => ({
            kind: 'warn' as const,
            text: common.downtime(shortenInstant(from), shortenInstant(to), note),
        })),
        ...announced.notes.map((note) => ({ kind: 'info' as const, text: note.text })),
    ];
}

/** "2099-03-01 06:00" */
export const shortenInstant = (instant: string): string => instant.slice(0, 16).replace('T', ' ');
