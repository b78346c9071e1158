/** Widths of columns, and which of them are seen. */

import type { Field } from '../model/resultModel';

/** Pixels. */
export const MIN_WIDTH = 48;
export const MAX_WIDTH = 1200;
const MAX_FIRST_WIDTH = 300;
const PADDING = 20;
/** room for the sign of the order */
const SIGN = 26;
/** how much wider bold letters are */
const BOLD = 1.08;

/** The width of a text in pixels. */
export type TextWidth = (text: string) => number;

/** The width that a column begins with: for its header and for values such as these. */
export function firstWidth(field: Field, shown: readonly string[], of: TextWidth): number {
    const header = Math.max(of(field.name) * BOLD, of(field.unit ?? '')) + SIGN;
    const widths = shown.map(of).sort((a, b) => a - b);
    // one long text in ten may be cut off, numbers never
    const most = field.kind === 'number' || field.kind === 'time' ? widths.at(-1) : widths[(widths.length * 0.9) | 0];
    const width = Math.max(header, most ?? 0) + PADDING;
    return Math.ceil(Math.min(Math.max(width, MIN_WIDTH), MAX_FIRST_WIDTH));
}

/** How wide the browser writes in a font, such as "13px sans-serif". */
export function measureWith(font: string): TextWidth {
    const context = document.createElement('canvas').getContext('2d');
    if (context) context.font = font;
    return (text) => context?.measureText(text).width ?? text.length * 8;
}

/** Where each column begins, and behind the last where it ends. */
export function columnStarts(widths: readonly number[]): number[] {
    const places = [0];
    for (const width of widths) places.push(places.at(-1)! + width);
    return places;
}

/** The columns [from, to) that have a part in [left, right), pixels. */
export function columnsInSight(places: readonly number[], left: number, right: number): [from: number, to: number] {
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
