/** Finds the contours of the density of points. */

import type { Box, View } from '../../canvas/plotView';
import { contourLines } from '../../statistics/contourLines';
import { quantileOf } from '../../statistics/binnedValues';
import { enclosingLevels, smoothCounts } from '../../statistics/smoothCounts';
import { countGrid, type DensityGrid } from '../points/binning';
import type { Points } from '../points/plotPoints';

/** The fractions that define the levels: of the rows in view, or of the highest density. */
const FRACTIONS = [0.1, 0.3, 0.5, 0.7, 0.9] as const;

export interface Contour {
    readonly fraction: number;
    /** in scaled values: u, v, u, v ... */
    readonly lines: readonly (readonly number[])[];
}

/** Standard deviation of the smoothing, in CSS pixels. */
const SMOOTHING = { least: 2.5, most: 50 };
/** Cells of the grid, in CSS pixels and in parts of the smoothing. */
const CELL = { least: 1.5, most: 6, part: 0.4 };
const SAMPLE = 20_000;

/** Return the contours of the points in view, smoothed by `factor` times what suits their number and spread. */
export function findContours(
    points: Points,
    view: View,
    box: Box,
    { levels, factor }: { levels: 'enclosed' | 'peak'; factor: number },
): Contour[] {
    const sigma = suitableSmoothing(points, view, box) * factor;
    if (!(sigma > 0)) return [];
    const cell = Math.max(CELL.least, Math.min(CELL.most, CELL.part * sigma));
    const grid = countGrid(points, ...widenView(view, box, 4 * sigma), cell);
    const density = smoothCounts(grid, sigma / cell);
    const within = isInView(grid, view);
    const heights =
        levels === 'enclosed' ? enclosingLevels(grid.counts, density, FRACTIONS, within) : peakLevels(density, within);
    return heights.map((level, at) => ({
        fraction: FRACTIONS[at]!,
        lines: contourLines({ ...grid, values: density }, level).map((line) =>
            line.map((at, k) => (k % 2 === 0 ? grid.u + at * grid.du : grid.v + at * grid.dv)),
        ),
    }));
}

function peakLevels(density: Float64Array, within: (cell: number) => boolean): number[] {
    const peak = density.reduce((most, value, cell) => (value > most && within(cell) ? value : most), 0);
    return peak > 0 ? FRACTIONS.map((fraction) => fraction * peak) : [];
}

/** Widen a view and its box by pixels: rows beyond the edge count for the density at it. */
function widenView(view: View, box: Box, pixels: number): [View, Box] {
    const du = ((view.u1 - view.u0) / box.width) * pixels;
    const dv = ((view.v1 - view.v0) / box.height) * pixels;
    return [
        { u0: view.u0 - du, u1: view.u1 + du, v0: view.v0 - dv, v1: view.v1 + dv },
        { ...box, width: box.width + 2 * pixels, height: box.height + 2 * pixels },
    ];
}

function isInView(grid: DensityGrid, view: View): (cell: number) => boolean {
    const [u0, u1] = [Math.min(view.u0, view.u1), Math.max(view.u0, view.u1)];
    const [v0, v1] = [Math.min(view.v0, view.v1), Math.max(view.v0, view.v1)];
    return (cell) => {
        const u = grid.u + ((cell % grid.columns) + 0.5) * grid.du;
        const v = grid.v + (Math.floor(cell / grid.columns) + 0.5) * grid.dv;
        return u >= u0 && u <= u1 && v >= v0 && v <= v1;
    };
}

/**
 * Return the smoothing that suits the points in view, in CSS pixels: 0.7 of Scott's rule for two dimensions, as points
 * often have several maxima, from the quartiles, which outliers do not change.
 */
function suitableSmoothing({ u, v, count }: Points, view: View, box: Box): number {
    const [ku, kv] = [box.width / (view.u1 - view.u0), box.height / (view.v1 - view.v0)];
    const stride = Math.max(1, Math.floor(count / SAMPLE));
    const [xs, ys]: [number[], number[]] = [[], []];
    for (let k = 0; k < count; k += stride) {
        const [x, y] = [(u[k]! - view.u0) * ku, (v[k]! - view.v0) * kv];
        if (x < 0 || y < 0 || x > box.width || y > box.height) continue;
        xs.push(x);
        ys.push(y);
    }
    if (xs.length < 2) return 0;
    const spread = Math.sqrt(robustSpread(xs) * robustSpread(ys));
    const wanted = 0.7 * spread * (xs.length * stride) ** (-1 / 6);
    return Math.max(SMOOTHING.least, Math.min(SMOOTHING.most, wanted));
}

function robustSpread(values: readonly number[]): number {
    const sorted = Float64Array.from(values).sort();
    return (quantileOf(sorted, 0.75) - quantileOf(sorted, 0.25)) / 1.349;
}
