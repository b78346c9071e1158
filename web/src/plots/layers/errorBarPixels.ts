/** Draws many error bars as pixels. */

import type { Ramp } from '../../canvas/colourRamps';
import type { AxisErrors } from '../points/plotData';
import { barEnds } from './errorBarEnds';
import type { Points } from '../points/plotPoints';
import type { Raster } from '../points/pointPixels';
import { colourParts, colourPixels } from '../points/scatterPixels';

export interface BarMark {
    readonly opacity: number;
    /** index into `colours` for every point; undefined: the first */
    readonly shades: Uint8Array | undefined;
    readonly colours: Ramp;
}

/** Return the pixels of the bars of both axes, transparent elsewhere; overlapping bars have the mean of their colours. */
export function errorBarPixels(
    points: Points,
    raster: Raster,
    errors: { x: AxisErrors | undefined; y: AxisErrors | undefined },
    mark: BarMark,
): Uint32Array<ArrayBuffer> {
    const size = raster.width * raster.height;
    const layers = Array.from({ length: mark.shades ? 4 : 1 }, () => new Float32Array(size));
    if (errors.x) addBars(points, raster, errors.x, mark, layers, true);
    if (errors.y) addBars(points, raster, errors.y, mark, layers, false);
    return colourPixels(layers, mark);
}

/**
 * Add the bars of an axis. Each is noted at its first pixel and behind its last one; sums along the axis then fill all bars
 * at once, however long they are.
 */
function addBars(
    points: Points,
    raster: Raster,
    errors: AxisErrors,
    { shades, colours }: BarMark,
    layers: Float32Array[],
    across: boolean,
): void {
    const { view, width, height } = raster;
    const [ku, kv] = [width / (view.u1 - view.u0), height / (view.v1 - view.v0)];
    const pixelOf = across ? (u: number) => (u - view.u0) * ku : (v: number) => (view.v1 - v) * kv;
    const length = across ? width : height;
    // one more than the pixels along the axis, for bars that end at the edge
    const ends = layers.map(() => new Float32Array((width + (across ? 1 : 0)) * (height + (across ? 0 : 1))));
    const parts = colourParts(colours);
    for (let k = 0; k < points.count; k++) {
        const line = Math.floor(across ? (view.v1 - points.v[k]!) * kv : (points.u[k]! - view.u0) * ku);
        if (line < 0 || line >= (across ? height : width)) continue;
        const bar = barEnds((across ? points.u : points.v)[k]!, points.rows[k]!, errors);
        const one = pixelOf(bar[0]);
        const other = pixelOf(bar[1]);
        if (!(one !== other)) continue;
        const from = Math.max(0, Math.floor(Math.min(one, other)));
        const to = Math.min(length, Math.floor(Math.max(one, other)) + 1);
        if (!(from < to)) continue;
        const index = (pixel: number) => (across ? line * (width + 1) + pixel : pixel * width + line);
        const shade = shades ? 3 * shades[k]! : 0;
        for (let layer = 0; layer < layers.length; layer++) {
            const weight = layer === 0 ? 1 : parts[shade + layer - 1]!;
            ends[layer]![index(from)]! += weight;
            ends[layer]![index(to)]! -= weight;
        }
    }
    layers.forEach((sums, layer) => sumAlong(ends[layer]!, sums, raster, across));
}

function sumAlong(ends: Float32Array, sums: Float32Array, { width, height }: Raster, across: boolean): void {
    if (across) {
        for (let j = 0; j < height; j++) {
            let sum = 0;
            for (let i = 0; i < width; i++) sums[j * width + i]! += sum += ends[j * (width + 1) + i]!;
        }
        return;
    }
    const open = new Float32Array(width);
    for (let at = 0; at < sums.length; at++) sums[at]! += open[at % width]! += ends[at]!;
}
