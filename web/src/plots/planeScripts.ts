/** Python scripts that draw a plot of two axes with matplotlib: the same columns, ranges, scales, bins and colours. */

import type { View } from '../canvas/plotView';
import type { LineFit } from '../layers/lineFit';
import { countGrid } from './binning';
import { BIN, CELL } from './paintCounts';
import { axisStyles } from './paintPlot';
import { colourColumn } from './plotData';
import type { Scene } from './plotScene';
import { AXES, type Axis } from './plotSettings';
import * as parts from './pythonParts';
import type { ScriptTable } from './pythonParts';
import { rasterRatio, pointRadius, usualOpacity, countIn } from './scatterPixels';
import { orderFor } from './skyCellCounts';
import { skyPython } from './skyScript';

const { py, pyNumber, pyLabel } = parts;

/** Return the Python that draws a scene from `rows`. */
export function planePython(scene: Scene, table: ScriptTable, fit?: LineFit): string {
    const { data } = scene;
    const { settings } = data;
    if (settings.kind === 'sky') {
        const order = settings.skyStyle === 'density' ? orderFor(scene.view, scene.box.width, CELL * settings.coarseness) : undefined; // prettier-ignore
        return skyPython(scene, table, markOptions(scene), order);
    }
    const axes = AXES[settings.kind].map((role) => settings.axes[role]);
    const colour = colourColumn(settings);
    const errors = settings.kind === 'curve' && data.layers.yErrors ? settings.error : -1;
    const columns = [...axes.flatMap(({ column, minus }) => [column, minus]), colour, errors];
    const read = readAxes(scene, table, axes);
    const mask = axes.map((_, k) => `np.isfinite(${'xy'[k]})`);
    const valued = data.shades?.type === 'values' ? ['np.isfinite(colour)'] : [];
    const reading = [
        ...read,
        ...parts.readShades(table, data.shades, colour),
        `good = ${['shown', ...mask, ...valued].join(' & ')}`,
    ];
    const isDensity = settings.kind === 'density';
    const colours = isDensity || data.shades?.type === 'values';
    const drawing = [
        'import matplotlib.pyplot as plt',
        ...(colours ? ['from matplotlib.colors import LinearSegmentedColormap, LogNorm'.replace(isDensity ? '' : ', LogNorm', '')] : []), // prettier-ignore
        '',
        ...(colours ? [parts.writeRamp()] : []),
        `fig, ax = plt.subplots(${parts.writeFigure(scene.size)}, layout="constrained")`,
        ...drawMarks(scene, table, colour, errors),
        ...(fit ? drawFitted(fit, scene.view, axisStyles(scene)) : []),
        ...frameLines(scene),
        parts.writeEnd(settings.kind),
    ];
    return [parts.writeHead(table, columns), reading.join('\n'), drawing.join('\n')].join('\n\n');
}

/** Return the lines that read the axes as x and y: values without a logarithm become NaN. */
function readAxes({ data }: Scene, { fields }: ScriptTable, axes: readonly Axis[]): string[] {
    const { settings } = data;
    const lines = axes.map((axis, k) => `${'xy'[k]} = ${parts.readQuantity(fields, axis)}`);
    axes.forEach((axis, k) => {
        const logged = axis.log && !(settings.kind === 'curve' && k === 0);
        if (logged) lines.push(`${'xy'[k]}[~(${'xy'[k]} > 0)] = np.nan`);
    });
    if (settings.kind === 'curve' && settings.period > 0) {
        const offset = data.points.count && data.columns[0] ? phaseOffset(data) : 0;
        lines.push(`x = (x - ${pyNumber(offset)}) / ${pyNumber(settings.period)} % 1`);
    }
    return lines;
}

/** Return the time of phase 0 in the units of the time column, from MJD. */
function phaseOffset({ settings, columns, points }: Scene['data']): number {
    const first = columns[0]!.value(points.rows[0]!);
    const isJulian = typeof first === 'number' && first > 2_400_000 && first < 2_600_000;
    return (settings.phaseZero ?? 0) + (isJulian ? 2_400_000.5 : 0);
}

/** Return the options for the size and density of points. */
function markOptions({ data, view, box, ratio }: Scene): string {
    const area = box.width * box.height;
    const count = countIn(data.points, view);
    const fine = rasterRatio(count, area, ratio);
    const raster = { view, width: Math.round(box.width * fine), height: Math.round(box.height * fine), ratio: fine };
    const radius = Math.max(0.4, pointRadius(data.points, raster) * data.settings.size);
    // the area in square points of a disc in CSS pixels
    const size = Math.round((1.5 * radius) ** 2 * 100) / 100;
    return `s=${size}, alpha=${usualOpacity(count, area)}, linewidths=0, rasterized=${count > 20_000 ? 'True' : 'False'}`;
}

function drawMarks(scene: Scene, table: ScriptTable, colour: number, errors: number): string[] {
    const { kind, period } = scene.data.settings;
    if (kind === 'histogram') return drawHistogram(scene);
    if (kind === 'density') return drawDensity(scene);
    const options = markOptions(scene);
    const folded = kind === 'curve' && period > 0;
    const doubled = (name: string, mask: string) => `np.concatenate([${name}[${mask}], ${name}[${mask}]${folded && name === 'x' ? ' + 1' : ''}])`; // prettier-ignore
    const place = (mask: string) => folded ? `${doubled('x', mask)}, ${doubled('y', mask)}` : `x[${mask}], y[${mask}]`; // prettier-ignore
    const bars =
        errors >= 0
            ? [
                  `error = ${parts.readColumn(table.fields, errors)}`,
                  'barred = good & (error > 0)',
                  `ax.errorbar(${place('barred')}, yerr=${folded ? doubled('error', 'barred') : 'error[barred]'}, fmt="none", ecolor="0.6", elinewidth=0.6, zorder=0)`,
              ]
            : [];
    const call = (mask: string, given: string) => {
        const held = folded ? given.replace('colour[good]', 'np.tile(colour[good], 2)') : given;
        return `ax.scatter(${place(mask)}, ${held}, ${options})`;
    };
    const bar = (points: string, label: string) => `fig.colorbar(${points}, label=${label})`;
    return [...bars, ...parts.writePoints(table, scene.data.shades, colour, call, bar)];
}

function drawHistogram({ histogram, data }: Scene): string[] {
    if (!histogram) return [];
    const { log } = data.settings.axes.value;
    const { start, width, counts } = histogram;
    // values on an edge but for their rounding belong to the bin above, as in the portal
    return [
        `edges = ${pyNumber(start)} + ${pyNumber(width)} * np.arange(${counts.length + 1})`,
        `ax.hist(${log ? 'np.log10(x[good])' : 'x[good]'} + ${pyNumber(width * 1e-6)}, bins=edges, color=${py(parts.ACCENT)}, rwidth=0.95)`,
        ...(data.settings.logCounts ? ['ax.set_yscale("log")'] : []),
    ];
}

/** Bins are those of the picture; on log axes they are even in the logarithm. */
function drawDensity({ data, view, box }: Scene): string[] {
    const { x, y } = data.settings.axes;
    const grid = countGrid(data.points, view, box, BIN * data.settings.coarseness);
    const edges = (from: number, step: number, count: number, log: boolean) => {
        const even = `${pyNumber(from)} + ${pyNumber(step)} * np.arange(${count + 1})`;
        return log ? `10 ** (${even})` : even;
    };
    return [
        `x_edges = ${edges(grid.u, grid.du, grid.columns, x.log)}`,
        `y_edges = ${edges(grid.v, grid.dv, grid.rows, y.log)}`,
        'counts, _, _, cells = ax.hist2d(x[good], y[good], bins=[x_edges, y_edges], cmap=ramp, norm=LogNorm(vmin=1), cmin=1)',
        'fig.colorbar(cells, label="rows per bin")',
    ];
}

/** Return the lines that draw a fitted line and its standard error; on log axes both are of the logarithm. */
export function drawFitted(
    { intercept, slope, slopeError, pivot, pivotVariance }: LineFit,
    { u0, u1 }: Pick<View, 'u0' | 'u1'>,
    [x, y]: readonly [{ readonly log: boolean }, { readonly log: boolean }],
): string[] {
    const shown = (name: string, { log }: { readonly log: boolean }) => (log ? `10 ** (${name})` : name);
    return [
        `line_x = np.linspace(${pyNumber(Math.min(u0, u1))}, ${pyNumber(Math.max(u0, u1))}, 65)`,
        `line_y = ${pyNumber(intercept)} + ${pyNumber(slope)} * line_x`,
        `spread = np.sqrt(${pyNumber(pivotVariance)} + ((line_x - ${pyNumber(pivot)}) * ${pyNumber(slopeError)}) ** 2)`,
        `ax.fill_between(${shown('line_x', x)}, ${shown('line_y - spread', y)}, ${shown('line_y + spread', y)}, color="C3", alpha=0.2, linewidth=0)`,
        `ax.plot(${shown('line_x', x)}, ${shown('line_y', y)}, color="C3")`,
    ];
}

/** Return the lines for scales, ranges and labels. */
function frameLines(scene: Scene): string[] {
    const { view, data } = scene;
    const [x, y] = axisStyles(scene);
    const isHistogram = data.settings.kind === 'histogram';
    // the bars of a logarithmic histogram are even in the logarithm
    const logX = x.log && !isHistogram;
    const logY = y.log && !isHistogram;
    const ends = (from: number, to: number, log: boolean) => [from, to].map((at) => pyNumber(log ? 10 ** at : at)).join(', '); // prettier-ignore
    return [
        ...(logX ? ['ax.set_xscale("log")'] : []),
        ...(logY ? ['ax.set_yscale("log")'] : []),
        `ax.set_xlim(${ends(view.u0, view.u1, logX)})`,
        `ax.set_ylim(${ends(view.v0, view.v1, logY || (isHistogram && data.settings.logCounts))})`,
        `ax.set_xlabel(${pyLabel(isHistogram && x.log ? `log10 ${x.label}` : x.label)})`,
        `ax.set_ylabel(${pyLabel(y.label)})`,
    ];
}
