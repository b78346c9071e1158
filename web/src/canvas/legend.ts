/** The legend of a colour scale. */

import { plotTexts } from '../text/plotTexts';
import { pixelToCss, type Ramp } from './colourRamps';
import type { Pen } from './pen';
import { linearTicks, logTicks, shortNumber, type Tick } from './axisTicks';
import type { Box } from './plotView';

/** Width of bar and numbers, in CSS pixels. */
export const LEGEND_WIDTH = 74;
const BAR = 12;

export interface Scale {
    readonly label: string;
    readonly range: readonly [number, number];
    readonly log: boolean;
    readonly ramp: Ramp;
}

/** Draw the bar from bottom to top of a box, with numbers and label on its right. */
export function drawLegend(pen: Pen, box: Box, scale: Scale, ink: { text: string; line: string }): void {
    const [low, high] = scale.range;
    const flat = !(high > low);
    const strips = Math.min(128, Math.max(16, Math.round(box.height / 2)));
    for (let k = 0; k < strips; k++) {
        const colour = pixelToCss(scale.ramp[flat ? 255 : Math.round(((k + 0.5) / strips) * 255)]!);
        const [from, to] = [k + 1, k].map((edge) => Math.round(box.top + box.height * (1 - edge / strips)));
        pen.fill(box.left, from!, BAR, to! - from!, colour);
    }
    const [from, to] = scale.log ? [Math.log10(low), Math.log10(high)] : [low, high];
    const ticks: Tick[] = flat
        ? [{ at: from, label: fitNumber(low) }]
        : (scale.log ? logTicks : linearTicks)(from, to, 5);
    const style = { colour: ink.text, size: 11 } as const;
    for (const { at, label } of ticks) {
        const y = box.top + box.height * (flat ? 0.5 : 1 - (at - from) / (to - from));
        pen.line([box.left + BAR, y, box.left + BAR + (label ? 4 : 2), y], ink.line);
        const held = Math.min(Math.max(y, box.top + 5), box.top + box.height - 5);
        if (label) pen.text(label, box.left + BAR + 6, held, style);
    }
    const labelStyle = { ...style, align: 'center', baseline: 'top', upright: true } as const;
    pen.text(scale.label, box.left + LEGEND_WIDTH - 15, box.top + box.height / 2, labelStyle);
}

/** Return a number that fits next to the bar. */
function fitNumber(value: number): string {
    const whole = shortNumber(value);
    return whole.length <= 7 ? whole : shortNumber(Number(value.toPrecision(3)));
}

/** Draw the names of kinds with their colours. */
export function drawKinds(
    pen: Pen,
    box: Box,
    { names, others }: { names: readonly string[]; others: boolean },
    { kinds, text: colour }: { kinds: Ramp; text: string },
): void {
    const labels = [...names.map((name) => name || plotTexts.noValue), ...(others ? [plotTexts.others] : [])];
    labels.forEach((name, shade) => {
        const y = box.top + 8 + 18 * shade;
        if (y > box.top + box.height) return;
        pen.fill(box.left, y - 5, 10, 10, pixelToCss(kinds[shade < names.length ? shade : kinds.length - 1]!));
        let kept = name;
        while (kept.length > 1 && pen.measure(kept, 11) > LEGEND_WIDTH - 14) kept = kept.slice(0, -1);
        pen.text(kept === name ? name : `${kept.slice(0, -1)}…`, box.left + 14, y, { colour, size: 11 });
    });
}
