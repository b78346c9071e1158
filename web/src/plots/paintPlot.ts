/** Paints a plot with a pen: on the screen, to PNG, to SVG. */

import { drawLabels, drawLines } from '../sky/graticule';
import { cellCount } from '../sky/healpixCells';
import { cellsOfPixels, countRange, logShade, paintCells } from '../sky/mapPixels';
import type { Field } from '../model/resultModel';
import { text } from '../text';
import { drawAxes, drawGrid, type AxisStyle } from '../canvas/plotAxes';
import { countGrid, type Histogram } from './binning';
import { cssToPixel } from '../canvas/colourRamps';
import { colourColumn, type PlotData } from './plotData';
import type { Size } from './plotLayout';
import { drawKinds, drawLegend, LEGEND_WIDTH, type Scale } from '../canvas/legend';
import type { Pen } from '../canvas/pen';
import { drawPixels } from '../canvas/pixelCanvas';
import { countIn, rasterRatio, scatterPixels, usualOpacity, type Raster } from './scatterPixels';
import { quantityLabel, type Axis, type AxisRole } from './plotSettings';
import { orderFor } from './skyCellCounts';
import { emptySky, type Theme } from '../canvas/canvasTheme';
import { xOnScreen, yOnScreen, type Box, type View } from '../canvas/plotView';

export interface Scene {
    readonly data: PlotData;
    readonly fields: readonly Field[];
    readonly view: View;
    readonly box: Box;
    readonly size: Size;
    readonly theme: Theme;
    /** device pixels per CSS pixel */
    readonly ratio: number;
    readonly chosen: Uint8Array | undefined;
    /** histograms only */
    readonly histogram: Histogram | undefined;
    /** the view is moving: maps may be coarser */
    readonly moving: boolean;
    /** note on the picture that rows are missing; '' if none are */
    readonly note: string;
}

/** Paint background, points or densities, axes, legend and the note about missing rows. */
export function paintScene(pen: Pen, scene: Scene): void {
    paintPlot(pen, scene);
    const { note, box, theme } = scene;
    const style = { colour: theme.warn, baseline: 'top', halo: theme.ground } as const;
    if (note) pen.text(note, box.left + 6, box.top + 6, style);
}

function paintPlot(pen: Pen, scene: Scene): void {
    const { size, theme } = scene;
    pen.fill(0, 0, size.width, size.height, theme.ground);
    const { kind } = scene.data.settings;
    if (kind === 'sky') return paintSky(pen, scene);
    const [x, y] = axisStyles(scene);
    drawGrid(pen, scene.view, scene.box, x, y, theme.line);
    const scale =
        kind === 'histogram'
            ? paintBars(pen, scene)
            : kind === 'density'
              ? paintDensity(pen, scene)
              : paintPoints(pen, scene);
    drawAxes(pen, scene.view, scene.box, x, y, theme);
    if (scale) drawLegend(pen, legendBox(scene), scale, theme);
}

/** Return the labels and ticks of the axes of a plot other than the sky. */
export function axisStyles({ data, fields }: Pick<Scene, 'data' | 'fields'>): [AxisStyle, AxisStyle] {
    const { settings } = data;
    const style = (role: AxisRole): AxisStyle => plainStyle(fields, settings.axes[role], settings.calendar);
    if (settings.kind === 'histogram') {
        return [style('value'), { label: text.plots.counts, log: settings.logCounts }];
    }
    if (settings.kind !== 'curve') return [style('x'), style('y')];
    if (settings.period > 0) return [{ label: text.plots.phase(settings.period), log: false }, style('flux')];
    const { epoch } = data;
    if (!settings.calendar || epoch === undefined)
        return [{ ...style('time'), log: false, epoch: undefined }, style('flux')];
    return [{ label: fields[settings.axes.time.column]?.name ?? '', log: false, epoch }, style('flux')];
}

function plainStyle(fields: readonly Field[], axis: Axis, calendar: boolean): AxisStyle {
    const instants = calendar && fields[axis.column]?.kind === 'time' && axis.minus < 0 && !axis.log;
    if (instants) return { label: fields[axis.column]!.name, log: false, epoch: 0 };
    return { label: quantityLabel(fields, axis), log: axis.log };
}

/** Whether a plot has a legend on its right. */
export function hasLegend(data: PlotData): boolean {
    const { kind, skyStyle } = data.settings;
    return kind === 'density' || (kind === 'sky' && skyStyle === 'density') || data.shades !== undefined;
}

function legendBox({ box }: Scene): Box {
    return { left: box.left + box.width + 12, top: box.top, width: LEGEND_WIDTH, height: box.height };
}

const singleColour = (colour: string) => Uint32Array.of(cssToPixel(colour));
/** Opacity factor of other points while some are chosen. */
const FAINT = 0.45;

/** Return the raster of a scene's points and their opacity. */
function rasterOf({ data, view, box, ratio }: Scene): { raster: Raster; opacity: number } {
    const area = box.width * box.height;
    const count = countIn(data.points, view);
    const fine = rasterRatio(count, area, ratio);
    const size = { width: Math.round(box.width * fine), height: Math.round(box.height * fine) };
    return { raster: { view, ...size, ratio: fine }, opacity: usualOpacity(count, area) };
}

function putPixels(pen: Pen, { box }: Scene, pixels: Uint32Array<ArrayBuffer>, width: number, height: number): void {
    const drawn = drawPixels(pixels, width, height);
    pen.within(box, () => pen.image(drawn, box.left, box.top, box.width, box.height));
}

function paintPoints(pen: Pen, scene: Scene): Scale | undefined {
    const { data, theme, chosen } = scene;
    const { points, shades, settings } = data;
    const { raster, opacity } = rasterOf(scene);
    const pixels = scatterPixels(points, raster, {
        size: settings.size,
        opacity: chosen ? opacity * FAINT : opacity,
        shades: shades?.points,
        continuous: shades?.type === 'values',
        colours: shades ? (shades.type === 'values' ? theme.ramp : theme.kinds) : singleColour(theme.accent),
        errors: data.errors,
    });
    putPixels(pen, scene, pixels, raster.width, raster.height);
    paintChosen(pen, scene);
    if (shades?.type === 'kinds') drawKinds(pen, legendBox(scene), shades, theme);
    if (shades?.type !== 'values') return undefined;
    const column = colourColumn(settings);
    return {
        label: quantityLabel(scene.fields, { column, minus: -1 }),
        range: shades.range,
        log: false,
        ramp: theme.ramp,
    };
}

function paintChosen(pen: Pen, scene: Scene): void {
    const { data, theme, chosen } = scene;
    if (!chosen) return;
    const { raster } = rasterOf(scene);
    const mark = {
        size: Math.min(1, data.settings.size),
        least: 1.2,
        opacity: 0.9,
        continuous: false,
        colours: singleColour(theme.warn),
        only: chosen,
    };
    putPixels(pen, scene, scatterPixels(data.points, raster, mark), raster.width, raster.height);
}

/** Default size of a bin, in CSS pixels. */
export const BIN = 4;

function paintDensity(pen: Pen, scene: Scene): Scale | undefined {
    const { data, view, box, theme } = scene;
    const grid = countGrid(data.points, view, box, BIN * data.settings.coarseness);
    const range: [number, number] = [1, Math.max(1, grid.most)];
    const pixels = new Uint32Array(grid.counts.length);
    // pictures run left to right and top down, the grid from the smallest values up
    const [across, up] = [view.u1 > view.u0, view.v1 > view.v0];
    for (let j = 0; j < grid.rows; j++) {
        for (let i = 0; i < grid.columns; i++) {
            const count = grid.counts[j * grid.columns + i]!;
            if (count === 0) continue;
            const at = (up ? grid.rows - 1 - j : j) * grid.columns + (across ? i : grid.columns - 1 - i);
            pixels[at] = theme.ramp[logShade(count, range)]!;
        }
    }
    const xs = [xOnScreen(view, box, grid.u), xOnScreen(view, box, grid.u + grid.columns * grid.du)];
    const ys = [yOnScreen(view, box, grid.v), yOnScreen(view, box, grid.v + grid.rows * grid.dv)];
    const [left, top] = [Math.min(...xs), Math.min(...ys)];
    const drawn = drawPixels(pixels, grid.columns, grid.rows);
    pen.within(box, () => pen.image(drawn, left, top, Math.max(...xs) - left, Math.max(...ys) - top));
    paintChosen(pen, scene);
    return grid.most ? { label: text.plots.perBin, range, log: true, ramp: theme.ramp } : undefined;
}

function paintBars(pen: Pen, scene: Scene): undefined {
    const { histogram, view, box, theme, data } = scene;
    if (!histogram) return;
    const height = (count: number) =>
        yOnScreen(view, box, data.settings.logCounts ? Math.log10(Math.max(count, 0.1)) : count);
    const bottom = box.top + box.height;
    const bars = (counts: Float64Array, colour: string) =>
        counts.forEach((count, bin) => {
            if (count === 0) return;
            const ends = [bin, bin + 1].map((edge) => xOnScreen(view, box, histogram.start + edge * histogram.width));
            const [left, right] = [Math.min(...ends), Math.max(...ends)];
            const gap = right - left > 4 ? 1 : 0;
            const top = Math.min(height(count), bottom);
            pen.fill(left, top, right - left - gap, bottom - top, colour);
        });
    pen.within(box, () => {
        bars(histogram.counts, theme.accent);
        if (histogram.chosen) bars(histogram.chosen, theme.warn);
    });
}

function paintSky(pen: Pen, scene: Scene): void {
    const { data, view, box, theme } = scene;
    const map = data.settings.skyStyle === 'density';
    if (!map) drawLines(pen, view, box, data.centre, theme);
    const scale = map ? paintMap(pen, scene) : paintPoints(pen, scene);
    if (map) {
        drawLines(pen, view, box, data.centre, theme);
        paintChosen(pen, scene);
    }
    drawLabels(pen, view, box, data.centre, theme);
    if (scale) drawLegend(pen, legendBox(scene), scale, theme);
}

const SQUARE_DEGREES = 41252.96;
/** Default size of a map's cell, in CSS pixels. */
export const CELL = 5;

/** Finding the cell of every pixel is the slowest step, and its result only depends on the view. */
let laidOut: { key: string; cells: Int32Array } | undefined;

function paintMap(pen: Pen, scene: Scene): Scale | undefined {
    const { data, view, box, theme } = scene;
    const { frame, coarseness } = data.settings;
    const order = orderFor(view, box.width, CELL * coarseness);
    const coarse = scene.moving ? 2 : 1 / Math.min(scene.ratio, 1.5);
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
    putPixels(pen, scene, pixels, layout.width, layout.height);
    const perDegree = cellCount(order) / SQUARE_DEGREES;
    const shown: [number, number] = [range[0] * perDegree, range[1] * perDegree];
    return range[1] ? { label: text.plots.perDegree, range: shown, log: true, ramp: theme.ramp } : undefined;
}
