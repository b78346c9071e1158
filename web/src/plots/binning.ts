/** Counting into bins: histograms, and densities of two dimensions. */

import type { Points } from './plotPoints';
import { niceStep } from '../canvas/axisTicks';
import type { Box, View } from '../canvas/plotView';

export interface Histogram {
    /** the lower edge of the first bin, in scaled values */
    readonly start: number;
    readonly width: number;
    readonly counts: Float64Array;
    /** of chosen rows; undefined if none is chosen */
    readonly chosen: Float64Array | undefined;
}

const MAX_BINS = 2000;
/** The relative rounding of 32-bit numbers. */
const FLOAT_ROUNDING = 1e-7;

/** How many bins suit the values in a range, after Freedman and Diaconis; of a sample, where there are many. */
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

/** Counts in bins of a round width about a `bins`-th of the range [low, high] of scaled values. */
export function countBins(points: Points, low: number, high: number, bins: number, chosen?: Uint8Array): Histogram {
    const span = high > low ? high - low : 1;
    const wanted = Math.max(1, Math.min(MAX_BINS, bins));
    // the round step that comes nearest from below would make up to twice as many
    const width = niceStep(span, wanted);
    const first = Math.floor(low / width);
    const count = Math.min(2 * MAX_BINS, Math.floor(high / width) - first + 1);
    const start = first * width;
    const counts = new Float64Array(count);
    const marked = chosen ? new Float64Array(count) : undefined;
    const inverse = 1 / width;
    for (let k = 0; k < points.count; k++) {
        const value = points.u[k]!;
        if (value < low || value > high) continue;
        const place = value * inverse;
        // what is on an edge but for rounding, that of 32-bit numbers included, belongs above it
        const bin = Math.floor(place + Math.abs(place) * FLOAT_ROUNDING + 1e-9) - first;
        const held = bin < 0 ? 0 : bin < count ? bin : count - 1;
        counts[held]!++;
        if (marked && chosen![points.rows[k]!]) marked[held]!++;
    }
    return { start, width, counts, chosen: marked };
}

/** A grid of counts over a view; the cells stay where they are when the view is moved. */
export interface DensityGrid {
    readonly counts: Uint32Array;
    readonly columns: number;
    readonly rows: number;
    /** scaled values at the grid's first corner (least u, least v) and the size of a cell */
    readonly u: number;
    readonly v: number;
    readonly du: number;
    readonly dv: number;
    readonly most: number;
}

/** The density of points over a view: cells of about `cell` CSS pixels. */
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
