/** Draws points with errors and lines between axes. */

import { drawAxes, drawGrid, type AxisStyle } from '../canvas/plotAxes';
import type { Theme } from '../canvas/canvasTheme';
import type { Pen } from '../canvas/pen';
import { xOnScreen, yOnScreen, type Box, type View } from '../canvas/plotView';

export interface ChartPoint {
    /** scaled values: the logarithm on a log axis */
    readonly x: number;
    readonly y: number;
    /** ends of the error bars, scaled */
    readonly low?: number;
    readonly high?: number;
    readonly colour?: string;
}

export interface Chart {
    readonly x: AxisStyle;
    readonly y: AxisStyle;
    readonly points?: readonly ChartPoint[];
    /** x, y, x, y ... in order of x */
    readonly line?: Float64Array;
    /** magnitudes grow downwards */
    readonly reversed?: boolean;
    /** marks at values of x */
    readonly marks?: readonly number[];
}

const MARGINS = { left: 66, top: 12, right: 14, bottom: 46 };

/** Return the box of the axes in a picture. */
export function chartBox({ width, height }: { readonly width: number; readonly height: number }): Box {
    const { left, top, right, bottom } = MARGINS;
    return { left, top, width: Math.max(20, width - left - right), height: Math.max(20, height - top - bottom) };
}

/** Return the view of everything in a chart, with some room. */
export function chartView({ points = [], line, reversed = false }: Chart): View {
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    const take = (x: number, low: number, high: number): void => {
        [x0, x1, y0, y1] = [Math.min(x0, x), Math.max(x1, x), Math.min(y0, low), Math.max(y1, high)];
    };
    for (const { x, y, low = y, high = y } of points) take(x, low, high);
    if (line) for (let k = 0; k < line.length; k += 2) take(line[k]!, line[k + 1]!, line[k + 1]!);
    const [[u0, u1], [v0, v1]] = [widen(x0, x1, line ? 0 : 0.04), widen(y0, y1, 0.06)];
    return reversed ? { u0, u1, v0: v1, v1: v0 } : { u0, u1, v0, v1 };
}

function widen(low: number, high: number, part: number): readonly [number, number] {
    if (!(low <= high)) return [0, 1];
    const room = high > low ? (high - low) * part : Math.abs(low) * 0.05 || 0.5;
    return [low - room, high + room];
}

export function paintChart(
    pen: Pen,
    size: { readonly width: number; readonly height: number },
    chart: Chart,
    theme: Theme,
): void {
    const [box, view] = [chartBox(size), chartView(chart)];
    drawGrid(pen, view, box, chart.x, chart.y, theme.line);
    pen.within(box, () => {
        for (const mark of chart.marks ?? []) {
            const x = xOnScreen(view, box, mark);
            pen.line([x, box.top, x, box.top + box.height], theme.warn, 1);
        }
        if (chart.line) pen.line(positionsOf(chart.line, view, box), theme.accent, 1);
        for (const point of chart.points ?? []) paintPoint(pen, view, box, point, theme);
    });
    drawAxes(pen, view, box, chart.x, chart.y, theme);
}

/** Keep of each pixel column the extremes: a periodogram has more frequencies than the screen has pixels. */
function positionsOf(line: Float64Array, view: View, box: Box): number[] {
    const positions: number[] = [];
    let [column, low, high] = [NaN, Infinity, -Infinity];
    const flush = (): void =>
        void (low <= high && positions.push(column, yOnScreen(view, box, low), column, yOnScreen(view, box, high)));
    for (let k = 0; k < line.length; k += 2) {
        const x = Math.round(xOnScreen(view, box, line[k]!) * 2) / 2;
        if (x !== column) {
            flush();
            [column, low, high] = [x, Infinity, -Infinity];
        }
        [low, high] = [Math.min(low, line[k + 1]!), Math.max(high, line[k + 1]!)];
    }
    flush();
    return positions;
}

function paintPoint(pen: Pen, view: View, box: Box, { x, y, low, high, colour }: ChartPoint, theme: Theme): void {
    const [across, up] = [xOnScreen(view, box, x), yOnScreen(view, box, y)];
    const ink = colour ?? theme.accent;
    if (low !== undefined && high !== undefined)
        pen.line([across, yOnScreen(view, box, low), across, yOnScreen(view, box, high)], ink, 1);
    pen.fill(across - 2, up - 2, 4, 4, ink);
}
