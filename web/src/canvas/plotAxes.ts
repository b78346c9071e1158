/** The axes of a plot: frame, grid, ticks, labels. */

import type { Pen } from './pen';
import { linearTicks, logTicks, timeTicks, type Tick } from './axisTicks';
import { xOnScreen, yOnScreen, type Box, type View } from './plotView';

export interface AxisStyle {
    readonly label: string;
    readonly log: boolean;
    /** the axis is in days; its offset from MJD, for ticks at dates */
    readonly epoch?: number | undefined;
}

export interface Ink {
    readonly text: string;
    readonly quiet: string;
    readonly line: string;
}

/** Return the ticks of an axis between scaled values. */
export function ticksOf(style: AxisStyle, from: number, to: number, parts: number): Tick[] {
    const { epoch } = style;
    if (epoch !== undefined) {
        return timeTicks(from - epoch, to - epoch, parts).map((tick) => ({ ...tick, at: tick.at + epoch }));
    }
    return (style.log ? logTicks : linearTicks)(from, to, parts);
}

/** Return the number of ticks for a length, one for each `each` CSS pixels. */
export const partCount = (length: number, each: number) => Math.max(2, Math.floor(length / each));

/** Draw grid lines at labelled ticks. */
export function drawGrid(pen: Pen, view: View, box: Box, x: AxisStyle, y: AxisStyle, colour: string): void {
    const [right, bottom] = [box.left + box.width, box.top + box.height];
    for (const { at, label } of ticksOf(x, view.u0, view.u1, horizontalParts(x, box))) {
        const at_ = xOnScreen(view, box, at);
        if (label && at_ >= box.left && at_ <= right) pen.line([at_, box.top, at_, bottom], colour, 0.6);
    }
    for (const { at, label } of ticksOf(y, view.v0, view.v1, partCount(box.height, 42))) {
        const at_ = yOnScreen(view, box, at);
        if (label && at_ >= box.top && at_ <= bottom) pen.line([box.left, at_, right, at_], colour, 0.6);
    }
}

const horizontalParts = (style: AxisStyle, box: Box) => partCount(box.width, style.epoch === undefined ? 85 : 115);

/** Draw frame, ticks and labels. */
export function drawAxes(pen: Pen, view: View, box: Box, x: AxisStyle, y: AxisStyle, ink: Ink): void {
    const [left, top] = [box.left, box.top];
    const [right, bottom] = [left + box.width, top + box.height];
    pen.line([left, top, right, top, right, bottom, left, bottom, left, top], ink.quiet);
    drawHorizontal(pen, view, box, x, ink);
    let widest = 0;
    for (const { at, label } of ticksOf(y, view.v0, view.v1, partCount(box.height, 42))) {
        const height = yOnScreen(view, box, at);
        if (height < top - 0.5 || height > bottom + 0.5) continue;
        widest = Math.max(widest, pen.measure(label));
        pen.line([left - (label ? 6 : 3), height, left, height], ink.quiet);
        if (label) pen.text(label, left - 9, height, { colour: ink.text, align: 'right' });
    }
    pen.text(shortenLabel(pen, x.label, box.width), left + box.width / 2, bottom + 40, {
        colour: ink.text,
        align: 'center',
        baseline: 'bottom',
    });
    pen.text(shortenLabel(pen, y.label, box.height), Math.max(2, left - widest - 28), top + box.height / 2, {
        colour: ink.text,
        align: 'center',
        baseline: 'top',
        upright: true,
    });
}

function drawHorizontal(pen: Pen, view: View, box: Box, style: AxisStyle, ink: Ink): void {
    const bottom = box.top + box.height;
    let taken = -Infinity;
    const ticks = ticksOf(style, view.u0, view.u1, horizontalParts(style, box))
        .map((tick) => ({ ...tick, x: xOnScreen(view, box, tick.at) }))
        .filter(({ x }) => x >= box.left - 0.5 && x <= box.left + box.width + 0.5)
        .sort((one, other) => one.x - other.x);
    for (const { x, label } of ticks) {
        pen.line([x, bottom, x, bottom + (label ? 6 : 3)], ink.quiet);
        const half = label ? pen.measure(label) / 2 : 0;
        if (!label || x - half < taken + 8) continue;
        taken = x + half;
        pen.text(label, x, bottom + 9, { colour: ink.text, align: 'center', baseline: 'top' });
    }
}

/** Cut a label to the length of its axis. */
export function shortenLabel(pen: Pen, label: string, room: number): string {
    if (pen.measure(label) <= room) return label;
    let kept = label;
    while (kept.length > 1 && pen.measure(`${kept}…`) > room) kept = kept.slice(0, -1);
    return `${kept}…`;
}
