/** Paints counts: bars of a histogram, cells of a plane and of the sky. */

import { emptySky } from '../../canvas/canvasTheme';
import type { Ramp } from '../../canvas/colourRamps';
import type { Scale } from '../../canvas/legend';
import type { Pen } from '../../canvas/pen';
import { drawPixels } from '../../canvas/pixelCanvas';
import { xOnScreen, yOnScreen, type Box, type View } from '../../canvas/plotView';
import { cellCount } from '../../sky/healpixCells';
import { cellsOfPixels, countRange, logShade, paintCells } from '../../sky/mapPixels';
import { plotTexts } from '../../text/plotTexts';
import { countChosen, countGrid, type DensityGrid } from '../points/binning';
import type { Scene } from '../points/plotScene';
import { orderFor } from '../points/skyCellCounts';

/** Paint the bars of a histogram. */
export function paintBars(pen: Pen, scene: Scene): void {
    if (scene.histogram) drawBars(pen, scene, scene.histogram.counts, scene.theme.accent);
}

/** Paint the bars of the chosen rows. */
export function paintChosenBars(pen: Pen, scene: Scene, chosen: Uint8Array): void {
    const { histogram, data, theme } = scene;
    if (histogram) drawBars(pen, scene, countChosen(histogram, data.points, chosen), theme.warn);
}

function drawBars(pen: Pen, { histogram, view, box, data }: Scene, counts: Float64Array, colour: string): void {
    const { start, width } = histogram!;
    const height = (count: number) =>
        yOnScreen(view, box, data.settings.logCounts ? Math.log10(Math.max(count, 0.1)) : count);
    const bottom = box.top + box.height;
    pen.within(box, () =>
        counts.forEach((count, bin) => {
            if (count === 0) return;
            const ends = [bin, bin + 1].map((edge) => xOnScreen(view, box, start + edge * width));
            const [left, right] = [Math.min(...ends), Math.max(...ends)];
            const gap = right - left > 4 ? 1 : 0;
            const top = Math.min(height(count), bottom);
            pen.fill(left, top, right - left - gap, bottom - top, colour);
        }),
    );
}

/** Default size of a bin, in CSS pixels. */
export const BIN = 4;

/** Paint the counts of a grid as a picture with a pixel for each cell. */
export function paintGrid(pen: Pen, grid: DensityGrid, view: View, box: Box, ramp: Ramp): void {
    const range: [number, number] = [1, Math.max(1, grid.most)];
    const pixels = new Uint32Array(grid.counts.length);
    // pictures run left to right and top down, the grid from the smallest values up
    const [across, up] = [view.u1 > view.u0, view.v1 > view.v0];
    for (let j = 0; j < grid.rows; j++) {
        for (let i = 0; i < grid.columns; i++) {
            const count = grid.counts[j * grid.columns + i]!;
            if (count === 0) continue;
            const at = (up ? grid.rows - 1 - j : j) * grid.columns + (across ? i : grid.columns - 1 - i);
            pixels[at] = ramp[logShade(count, range)]!;
        }
    }
    const xs = [xOnScreen(view, box, grid.u), xOnScreen(view, box, grid.u + grid.columns * grid.du)];
    const ys = [yOnScreen(view, box, grid.v), yOnScreen(view, box, grid.v + grid.rows * grid.dv)];
    const [left, top] = [Math.min(...xs), Math.min(...ys)];
    const drawn = drawPixels(pixels, grid.columns, grid.rows);
    pen.within(box, () => pen.image(drawn, left, top, Math.max(...xs) - left, Math.max(...ys) - top));
}

/** Paint the counts of a grid. Return their scale. */
export function paintDensity(pen: Pen, scene: Scene): Scale | undefined {
    const { data, view, box, theme } = scene;
    const grid = countGrid(data.points, view, box, BIN * data.settings.coarseness);
    const range: [number, number] = [1, Math.max(1, grid.most)];
    paintGrid(pen, grid, view, box, theme.ramp);
    return grid.most ? { label: plotTexts.perBin, range, log: true, ramp: theme.ramp } : undefined;
}

const SQUARE_DEGREES = 41252.96;
/** Default size of a map's cell, in CSS pixels. */
export const CELL = 5;

/** Finding the cell of every pixel is the slowest step, and its result only depends on the view. */
let laidOut: { key: string; cells: Int32Array } | undefined;

/** Paint the counts of HEALPix cells. Return their scale. */
export function paintMap(pen: Pen, scene: Scene): Scale | undefined {
    const { data, view, box, theme } = scene;
    const { frame, coarseness } = data.settings;
    const order = orderFor(view, box.width, CELL * coarseness);
    const coarse = scene.moving ? 2 : 1 / (scene.exact ? scene.ratio : Math.min(scene.ratio, 1.5));
    const layout = {
        frame,
        centre: data.centre,
        view,
        width: Math.round(box.width / coarse),
        height: Math.round(box.height / coarse),
    };
    const key = JSON.stringify([order, layout]);
    if (laidOut?.key !== key) laidOut = { key, cells: cellsOfPixels(order, layout) };
    const counts = data.cells!.countCells(order);
    const range = countRange(counts);
    const pixels = paintCells(laidOut.cells, counts, range, theme.ramp, emptySky(theme));
    const drawn = drawPixels(pixels, layout.width, layout.height);
    pen.within(box, () => pen.image(drawn, box.left, box.top, box.width, box.height));
    const perDegree = cellCount(order) / SQUARE_DEGREES;
    const shown: [number, number] = [range[0] * perDegree, range[1] * perDegree];
    return range[1] ? { label: plotTexts.perDegree, range: shown, log: true, ramp: theme.ramp } : undefined;
}
