/** What the panels draw: bars, and pictures of counts in cells. */

import { geoCircle, type GeoPermissibleObjects } from 'd3-geo';
import { emptySky, type Theme } from '../canvas/canvasTheme';
import { cssToPixel } from '../canvas/colourRamps';
import type { Pen } from '../canvas/pen';
import { drawPixels } from '../canvas/pixelCanvas';
import { drawAxes, drawGrid, type AxisStyle } from '../canvas/plotAxes';
import { uAt, vAt, xOnScreen, yOnScreen, type Box, type View } from '../canvas/plotView';
import { drawLabels, drawLines } from '../sky/graticule';
import { unprojectPosition } from '../sky/hammerAitoff';
import { countRange, logShade } from '../sky/mapPixels';
import { strokeGeometry, viewProjection } from '../sky/skyLines';
import type { PanelCounts } from './panelCounts';
import type { Circle, Range } from './tableFilters';
import { quantityLabel, type Quantity } from './quantities';

/** A surface to draw on: a box for the values, room for axes around it. */
export interface Surface {
    readonly pen: Pen;
    readonly box: Box;
    readonly theme: Theme;
}

/** Return how an axis shows a quantity; instants as dates. */
export const axisOf = (quantity: Quantity): AxisStyle => ({
    label: quantityLabel(quantity),
    log: false,
    epoch: quantity.isTime ? 0 : undefined,
});

/** Draw bars: rows that meet all filters, and behind them the rows outside the panel's own filter. */
export function drawHistogram(
    { pen, box, theme }: Surface,
    view: View,
    counts: PanelCounts,
    axes: readonly [AxisStyle, AxisStyle],
    range: Range | undefined,
): void {
    const bins = counts.kept.length;
    drawGrid(pen, view, box, ...axes, theme.line);
    const edge = (bin: number): number => Math.round(box.left + (box.width * bin) / bins);
    const bar = (bin: number, rows: number, colour: string): void => {
        if (!rows) return;
        const top = Math.min(yOnScreen(view, box, rows), box.top + box.height - 1);
        pen.fill(edge(bin), top, Math.max(1, edge(bin + 1) - edge(bin) - 1), box.top + box.height - top, colour);
    };
    pen.within(box, () => {
        for (let bin = 0; bin < bins; bin++) {
            bar(bin, counts.around[bin]!, theme.line);
            bar(bin, counts.kept[bin]!, theme.accent);
        }
        for (const end of range ? [range.min, range.max] : []) {
            const x = xOnScreen(view, box, end);
            pen.line([x, box.top, x, box.top + box.height], theme.text, 1.5);
        }
    });
    drawAxes(pen, view, box, ...axes, theme);
}

/** Draw the density of two quantities, and the box of their filters. */
export function drawPlane(
    { pen, box, theme }: Surface,
    view: View,
    counts: PanelCounts,
    columns: number,
    axes: readonly [AxisStyle, AxisStyle],
    [across, up]: readonly [Range | undefined, Range | undefined],
): void {
    drawGrid(pen, view, box, ...axes, theme.line);
    drawCells(pen, box, counts, columns, theme, view);
    if (across || up) {
        const [u0, u1] = across ? [across.min, across.max] : [view.u0, view.u1];
        const [v0, v1] = up ? [up.min, up.max] : [view.v0, view.v1];
        const corners = [u0, v0, u1, v0, u1, v1, u0, v1, u0, v0];
        pen.within(box, () => strokeOutline(pen, box, view, corners, theme.text));
    }
    drawAxes(pen, view, box, ...axes, theme);
}

/** Draw the density on the sky, and the circle of the filter. `middle`: longitude in the middle, degrees. */
export function drawSky(
    { pen, box, theme }: Surface,
    view: View,
    counts: PanelCounts,
    columns: number,
    middle: number,
    circle: Circle | undefined,
): void {
    const onSky = (column: number, row: number, rows: number): boolean => {
        const u = view.u0 + ((column + 0.5) / columns) * (view.u1 - view.u0);
        const v = view.v0 + ((row + 0.5) / rows) * (view.v1 - view.v0);
        return unprojectPosition(u, v) !== undefined;
    };
    drawCells(pen, box, counts, columns, theme, view, onSky);
    drawLines(pen, view, box, middle, theme);
    drawLabels(pen, view, box, middle, theme);
    if (circle) strokeGeometry(pen, viewProjection(view, box, middle), outlineOf(circle), theme.text, 1.5);
}

function strokeOutline(pen: Pen, box: Box, view: View, positions: readonly number[], colour: string): void {
    const points = positions.map((value, at) => (at % 2 ? yOnScreen(view, box, value) : xOnScreen(view, box, value)));
    pen.line(points, colour, 1.5);
}

/** Colour cells by the logarithm of their counts; cells outside the panel's own filter are grey. */
function drawCells(
    pen: Pen,
    box: Box,
    { kept, around }: PanelCounts,
    columns: number,
    theme: Theme,
    view: View,
    onSky?: (column: number, row: number, rows: number) => boolean,
): void {
    const rows = kept.length / columns;
    const range = countRange(kept);
    const [grey, ground] = [cssToPixel(theme.line), emptySky(theme)];
    const pixels = new Uint32Array(kept.length);
    const [mirrored, upsideDown] = [view.u0 > view.u1, view.v0 > view.v1];
    for (let row = 0, at = 0; row < rows; row++) {
        // cells are counted from the least value, pixels from the top
        const y = upsideDown ? row : rows - 1 - row;
        for (let column = 0; column < columns; column++, at++) {
            const pixel = y * columns + (mirrored ? columns - 1 - column : column);
            if (kept[at]! > 0) pixels[pixel] = theme.ramp[logShade(kept[at]!, range)]!;
            else if (around[at]! > 0) pixels[pixel] = grey;
            else if (onSky?.(column, row, rows)) pixels[pixel] = ground;
        }
    }
    pen.image(drawPixels(pixels, columns, rows), box.left, box.top, box.width, box.height);
}

/** Return the outline of a circle as a line: an area would be closed along the edge of the map. */
function outlineOf({ ra, dec, radius }: Circle): GeoPermissibleObjects {
    const circle = geoCircle().center([ra, dec]).radius(radius).precision(2);
    return { type: 'LineString', coordinates: circle().coordinates[0]! };
}

/** Return the values at a position of the screen, held within the view. */
export function valuesAt(view: View, box: Box, x: number, y: number): readonly [number, number] {
    const [left, top] = [
        Math.max(box.left, Math.min(box.left + box.width, x)),
        Math.max(box.top, Math.min(box.top + box.height, y)),
    ];
    return [uAt(view, box, left), vAt(view, box, top)];
}
