/** Widths of columns, and which of them are seen. */

import type { Field } from '../model';

/** Pixels. */
export const NARROWEST = 48;
export const WIDEST = 1200;
const FIRST_WIDEST = 300;
const PER_CHARACTER = 7.6;
const PADDING = 18;
/** room for the sign of the order */
const SIGN = 16;

/** The width that a column begins with: for its header and the first values. */
export function firstWidth(field: Field, shown: readonly string[]): number {
    const header = Math.max(field.name.length, (field.unit ?? '').length) * PER_CHARACTER + SIGN;
    const lengths = shown.map((text) => text.length).sort((a, b) => a - b);
    const longest =
        field.kind === 'number' || field.kind === 'time' ? lengths.at(-1) : lengths[(lengths.length * 0.9) | 0];
    const width = Math.max(header, (longest ?? 0) * PER_CHARACTER) + PADDING;
    return Math.round(Math.min(Math.max(width, NARROWEST), Math.max(FIRST_WIDEST, Math.min(header + PADDING, 400))));
}

/** Where each column begins, and behind the last where it ends. */
export function starts(widths: readonly number[]): number[] {
    const places = [0];
    for (const width of widths) places.push(places.at(-1)! + width);
    return places;
}

/** The columns [from, to) that have a part in [left, right), pixels. */
export function seen(places: readonly number[], left: number, right: number): [from: number, to: number] {
    const columns = places.length - 1;
    const from = Math.max(0, firstAbove(places, left) - 1);
    const to = Math.min(columns, firstAbove(places, right - 1));
    return [Math.min(from, columns), Math.max(to, Math.min(from + 1, columns))];
}

function firstAbove(places: readonly number[], value: number): number {
    let [low, high] = [0, places.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (places[middle]! > value) high = middle;
        else low = middle + 1;
    }
    return low;
}
