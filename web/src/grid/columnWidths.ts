/** Column widths, and the columns in sight. */

import { formatUnit } from '../text/unitFormat';
import type { Field } from '../model/resultModel';

/** pixels */
export const MIN_WIDTH = 48;
export const MAX_WIDTH = 1200;
const MAX_FIRST_WIDTH = 300;
const PADDING = 20;
/** room for the sort sign */
const SIGN = 26;
/** width factor of bold letters */
const BOLD = 1.08;

/** Returns the width of a text in pixels. */
export type TextWidth = (text: string) => number;

/** Return the first width of a column, for its header and these values. */
export function firstWidth(field: Field, shown: readonly string[], of: TextWidth): number {
    const header = Math.max(of(field.name) * BOLD, of(formatUnit(field.unit ?? ''))) + SIGN;
    const widths = shown.map(of).sort((a, b) => a - b);
    // cut one long text in ten, but never numbers
    const most = field.kind === 'number' || field.kind === 'time' ? widths.at(-1) : widths[(widths.length * 0.9) | 0];
    const width = Math.max(header, most ?? 0) + PADDING;
    return Math.ceil(Math.min(Math.max(width, MIN_WIDTH), MAX_FIRST_WIDTH));
}

/** Return a function that measures text in a font such as "13px sans-serif". */
export function measureWith(font: string): TextWidth {
    const context = document.createElement('canvas').getContext('2d');
    if (context) context.font = font;
    return (text) => context?.measureText(text).width ?? text.length * 8;
}

/** Return the start of each column, and the end of the last. */
export function columnStarts(widths: readonly number[]): number[] {
    const starts = [0];
    for (const width of widths) starts.push(starts.at(-1)! + width);
    return starts;
}

/** Return the columns [from, to) that overlap [left, right), in pixels. */
export function columnsInSight(starts: readonly number[], left: number, right: number): [from: number, to: number] {
    const columns = starts.length - 1;
    const from = Math.max(0, firstAbove(starts, left) - 1);
    const to = Math.min(columns, firstAbove(starts, right - 1));
    return [Math.min(from, columns), Math.max(to, Math.min(from + 1, columns))];
}

function firstAbove(starts: readonly number[], value: number): number {
    let [low, high] = [0, starts.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (starts[middle]! > value) high = middle;
        else low = middle + 1;
    }
    return low;
}
