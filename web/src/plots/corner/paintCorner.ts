/** Paints corner plots. What depends only on the scene is computed once, so that a brush only counts the chosen points. */

import { partCount, shortenLabel, ticksOf } from '../../canvas/plotAxes';
import type { Theme } from '../../canvas/canvasTheme';
import { cssToPixel } from '../../canvas/colourRamps';
import type { Pen } from '../../canvas/pen';
import { drawPixels } from '../../canvas/pixelCanvas';
import { xOnScreen, yOnScreen } from '../../canvas/plotView';
import { countBins, countGrid, suitableBins, type Histogram } from '../points/binning';
import type { CornerPanel } from './cornerLayout';
import { paintGrid } from '../plane/paintCounts';
import type { Size } from '../points/plotLayout';
import type { Points } from '../points/plotPoints';
import { pixelIndexes } from '../points/pointPixels';
import type { RowValues } from '../table/rowValues';
import { hitPixels } from '../points/scatterPixels';

export interface CornerScene {
    readonly values: RowValues;
    readonly panels: readonly CornerPanel[];
    readonly size: Size;
    readonly theme: Theme;
    readonly ratio: number;
    readonly note: string;
}

/** Up to as many points are drawn each; more as densities. */
const FEW = 3000;
/** Size of a cell of densities, in CSS pixels. */
const CELL = 3;
const MAX_CORNER_BINS = 60;

/** Return the points of a panel; on the diagonal v is 0. */
export function panelPoints({ rows, axes }: RowValues, { column, row }: CornerPanel): Points {
    const u = axes[column]!.values;
    const v = axes[row]!.values;
    const extent = { u0: NaN, u1: NaN, v0: NaN, v1: NaN };
    return { rows, u, v, count: rows.length, missing: 0, notPositive: 0, extent };
}

/** The bins of the diagonal and the pixel of every point in each panel. */
class CornerCounts {
    readonly #histograms = new Map<number, Histogram>();
    readonly #indexes = new Map<CornerPanel, Int32Array>();

    constructor(private readonly scene: CornerScene) {}

    histogram(axis: number): Histogram {
        const known = this.#histograms.get(axis);
        if (known) return known;
        const { values, panels } = this.scene;
        const { range, values: own } = values.axes[axis]!;
        const [low, high] = [Math.min(...range), Math.max(...range)];
        const bins = Math.min(MAX_CORNER_BINS, suitableBins(own, low, high));
        const panel = panels.find(({ column, row }) => column === axis && row === axis)!;
        const counted = countBins(panelPoints(values, panel), low, high, bins);
        this.#histograms.set(axis, counted);
        return counted;
    }

    /** Return the CSS pixel of every point in a panel. */
    indexes(panel: CornerPanel): Int32Array {
        const known = this.#indexes.get(panel);
        if (known) return known;
        const indexes = pixelIndexes(panelPoints(this.scene.values, panel), rasterOf(panel));
        this.#indexes.set(panel, indexes);
        return indexes;
    }
}

const counts = new WeakMap<CornerScene, CornerCounts>();

function countsOf(scene: CornerScene): CornerCounts {
    const known = counts.get(scene) ?? new CornerCounts(scene);
    counts.set(scene, known);
    return known;
}

const rasterOf = ({ view, box }: CornerPanel) => ({
    view,
    width: Math.round(box.width),
    height: Math.round(box.height),
    ratio: 1,
});

/** Paint everything but the chosen rows. */
export function paintCorner(pen: Pen, scene: CornerScene): void {
    const { size, theme, panels, values, note } = scene;
    pen.fill(0, 0, size.width, size.height, theme.ground);
    for (const panel of panels) {
        if (panel.column === panel.row) paintHistogram(pen, scene, panel, undefined);
        else if (values.rows.length <= FEW) paintDiscs(pen, panel, values, undefined, theme.accent);
        else {
            const grid = countGrid(panelPoints(values, panel), panel.view, panel.box, CELL);
            pen.within(panel.box, () => paintGrid(pen, grid, panel.view, panel.box, theme.ramp));
        }
        drawPanelAxes(pen, scene, panel);
    }
    const style = { colour: theme.warn, align: 'right', baseline: 'top', halo: theme.ground } as const;
    if (note) pen.text(note, size.width - 6, 6, style);
}

/** Paint the chosen rows in all panels. */
export function paintChosenCorner(pen: Pen, scene: CornerScene, chosen: Uint8Array): void {
    const { values, panels, theme } = scene;
    const points = new Uint32Array(values.rows.length);
    let count = 0;
    for (let k = 0; k < points.length; k++) if (chosen[values.rows[k]!]) points[count++] = k;
    const marked = points.subarray(0, count);
    for (const panel of panels) {
        if (panel.column === panel.row) {
            paintHistogram(pen, scene, panel, marked);
        } else if (count <= FEW) paintDiscs(pen, panel, values, marked, theme.warn);
        else paintHits(pen, scene, panel, marked);
    }
}

/** Paint many chosen points as pixels. */
function paintHits(pen: Pen, scene: CornerScene, panel: CornerPanel, marked: Uint32Array): void {
    const [raster, indexes] = [rasterOf(panel), countsOf(scene).indexes(panel)];
    const hits = new Float32Array(raster.width * raster.height);
    for (const k of marked) if (indexes[k]! >= 0) hits[indexes[k]!]!++;
    const colours = Uint32Array.of(cssToPixel(scene.theme.warn));
    const picture = drawPixels(
        hitPixels(hits, raster, { size: 0.3, opacity: 0.9, colours }),
        raster.width,
        raster.height,
    );
    const { left, top, width, height } = panel.box;
    pen.image(picture, left, top, width, height);
}

/** Paint points one by one: all of them, or the marked ones. */
function paintDiscs(
    pen: Pen,
    { view, box, column, row }: CornerPanel,
    { axes, rows }: RowValues,
    marked: Uint32Array | undefined,
    colour: string,
): void {
    const count = marked?.length ?? rows.length;
    const [across, up] = [axes[column]!.values, axes[row]!.values];
    const [x, y] = [new Float64Array(count), new Float64Array(count)];
    for (let k = 0; k < count; k++) {
        const point = marked ? marked[k]! : k;
        x[k] = xOnScreen(view, box, across[point]!);
        y[k] = yOnScreen(view, box, up[point]!);
    }
    const radius = count > 500 ? 1.1 : 1.8;
    pen.within(box, () => pen.discs({ x, y, count, radius, colours: [colour], opacity: marked ? 0.9 : 0.6 }));
}

/** Paint the bars of a panel on the diagonal: of all points, or of the marked ones. */
function paintHistogram(pen: Pen, scene: CornerScene, panel: CornerPanel, marked: Uint32Array | undefined): void {
    const { view, box } = panel;
    const { start, width, counts: all, indexes } = countsOf(scene).histogram(panel.row);
    const bars = marked ? new Float64Array(all.length) : all;
    if (marked) for (const k of marked) if (indexes[k]! >= 0) bars[indexes[k]!]!++;
    const most = all.reduce((one, other) => Math.max(one, other), 1);
    const colour = marked ? scene.theme.warn : scene.theme.accent;
    const bottom = box.top + box.height;
    pen.within(box, () =>
        bars.forEach((count, bin) => {
            if (!count) return;
            const ends = [bin, bin + 1].map((edge) => xOnScreen(view, box, start + edge * width));
            const top = yOnScreen(view, box, count / most);
            pen.fill(Math.min(...ends), top, Math.abs(ends[1]! - ends[0]!), bottom - top, colour);
        }),
    );
}

/** Draw frame and ticks; numbers and names at the left and the bottom of the whole. */
function drawPanelAxes(pen: Pen, { values, theme }: CornerScene, panel: CornerPanel): void {
    const { box, view, column, row } = panel;
    const [right, bottom] = [box.left + box.width, box.top + box.height];
    pen.line([box.left, box.top, right, box.top, right, bottom, box.left, bottom, box.left, box.top], theme.quiet);
    const last = row === values.axes.length - 1;
    const { text: colour } = theme;
    let taken = -Infinity;
    const across = ticksOf(values.axes[column]!, view.u0, view.u1, partCount(box.width, 55))
        .map((tick) => ({ ...tick, x: xOnScreen(view, box, tick.at) }))
        .sort((one, other) => one.x - other.x);
    for (const { label, x } of across) {
        if (!label || x < box.left || x > right) continue;
        pen.line([x, bottom, x, bottom - 4], theme.quiet);
        const half = pen.measure(label, 11) / 2;
        // numbers of panels side by side do not touch
        const isInside = x - half >= box.left - 2 && x + half <= right + 2;
        if (!last || !isInside || x - half < taken + 6) continue;
        taken = x + half;
        pen.text(label, x, bottom + 6, { colour, align: 'center', baseline: 'top', size: 11 });
    }
    if (last) {
        const name = fitLabel(pen, values.axes[column]!.label, box.width);
        pen.text(name, box.left + box.width / 2, bottom + 42, { colour, align: 'center', baseline: 'bottom' });
    }
    if (column === row) return;
    for (const { at, label } of ticksOf(values.axes[row]!, view.v0, view.v1, partCount(box.height, 32))) {
        const y = yOnScreen(view, box, at);
        if (!label || y < box.top || y > bottom) continue;
        pen.line([box.left, y, box.left + 4, y], theme.quiet);
        if (column === 0) pen.text(label, box.left - 5, y, { colour, align: 'right', size: 11 });
    }
    if (column > 0) return;
    const name = fitLabel(pen, values.axes[row]!.label, box.height);
    pen.text(name, 4, box.top + box.height / 2, { colour, align: 'center', baseline: 'top', upright: true });
}

/** Return a label without its unit if there is no room for it. */
function fitLabel(pen: Pen, label: string, room: number): string {
    return pen.measure(label) <= room ? label : shortenLabel(pen, label.replace(/ \[.*\]$/, ''), room);
}
