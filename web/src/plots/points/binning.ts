/** Counts in bins: histograms and two-dimensional densities. */

import type { Points } from './plotPoints';
import { niceStep } from '../../canvas/roundSteps';
import type { Box, View } from '../../canvas/plotView';

export interface Histogram {
    /** lower edge of the first bin, scaled */
    readonly start: number;
    readonly width: number;
    readonly counts: Float64Array;
    /** the bin of every point, -1 outside: a brush counts by them */
    readonly indexes: Int32Array;
    /** the counts of other results in the same bins */
    readonly others: readonly Float64Array[];
}

const MAX_BINS = 2000;
/** Relative rounding error of 32-bit floats. */
const FLOAT_ROUNDING = 1e-7;

/** Return the number of bins by the Freedman-Diaconis rule, from a sample of large columns. */
export function suitableBins(values: Float64Array, low: number, high: number): number {
    const stride = Math.max(1, Math.floor(values.length / 8_000));
    const sample: number[] = [];
    for (let k = 0; k < values.length; k += stride)
        if (values[k]! >= low && values[k]! <= high) sample.push(values[k]!);
    if (sample.length < 2) return 10;
    const sorted = Float64Array.from(sample).sort();
    const quartile = (part: number) => sorted[Math.floor(part * (sorted.length - 1))]!;
    const spread = quartile(0.75) - quartile(0.25);
    const total = sample.length * stride;
    const width = spread > 0 ? (2 * spread) / Math.cbrt(total) : (high - low) / (1 + Math.log2(total));
    return Math.max(5, Math.min(400, Math.ceil((high - low) / width)));
}

/** Count values of [low, high] in about `bins` bins of a round width. */
export function countBins(points: Points, low: number, high: number, bins: number): Histogram {
    const span = high > low ? high - low : 1;
    const wanted = Math.max(1, Math.min(MAX_BINS, bins));
    // the next smaller round step would give up to twice as many bins
    const width = niceStep(span, wanted);
    const first = Math.floor(low / width);
    const count = Math.min(2 * MAX_BINS, Math.floor(high / width) - first + 1);
    const start = first * width;
    const counts = new Float64Array(count);
    const indexes = new Int32Array(points.count).fill(-1);
    const inverse = 1 / width;
    for (let k = 0; k < points.count; k++) {
        const value = points.u[k]!;
        if (value < low || value > high) continue;
        const index = value * inverse;
        // a value on an edge but for 32-bit rounding belongs to the bin above
        const bin = Math.floor(index + Math.abs(index) * FLOAT_ROUNDING + 1e-9) - first;
        const held = bin < 0 ? 0 : bin < count ? bin : count - 1;
        counts[held]!++;
        indexes[k] = held;
    }
    return { start, width, counts, indexes, others: [] };
}

/** Return the number of chosen points in each bin. */
export function countChosen({ counts, indexes }: Histogram, { rows }: Points, chosen: Uint8Array): Float64Array {
    const marked = new Float64Array(counts.length + 1);
    for (let k = 0; k < indexes.length; k++) marked[indexes[k]! + 1]! += chosen[rows[k]!]! | 0;
    return marked.subarray(1);
}

/** Counts over a view. The cells keep their index when the view moves. */
export interface DensityGrid {
    readonly counts: Uint32Array;
    readonly columns: number;
    readonly rows: number;
    /** scaled values at the corner of least u and v, and the size of a cell */
    readonly u: number;
    readonly v: number;
    readonly du: number;
    readonly dv: number;
    readonly most: number;
}

/** Count the points of a view in cells of about `cell` CSS pixels. */
export function countGrid(points: Points, view: View, box: Box, cell: number): DensityGrid {
    const du = (Math.abs(view.u1 - view.u0) / box.width) * cell;
    const dv = (Math.abs(view.v1 - view.v0) / box.height) * cell;
    const [low, bottom] = [Math.min(view.u0, view.u1), Math.min(view.v0, view.v1)];
    const [i0, j0] = [Math.floor(low / du), Math.floor(bottom / dv)];
    const columns = Math.ceil(box.width / cell) + 1;
    const rows = Math.ceil(box.height / cell) + 1;
    const counts = new Uint32Array(columns * rows);
    const { u, v, count } = points;
    const [iu, iv] = [1 / du, 1 / dv];
    let most = 0;
    for (let k = 0; k < count; k++) {
        const i = Math.floor(u[k]! * iu) - i0;
        const j = Math.floor(v[k]! * iv) - j0;
        if (i < 0 || j < 0 || i >= columns || j >= rows) continue;
        const now = ++counts[j * columns + i]!;
        if (now > most) most = now;
    }
    return { counts, columns, rows, u: i0 * du, v: j0 * dv, du, dv, most };
}
