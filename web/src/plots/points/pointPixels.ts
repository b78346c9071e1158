/** The pixel of every point in a view. Found once for a view, so that a brush is a pass over integers. */

import type { Points } from './plotPoints';
import type { View } from '../../canvas/plotView';

export interface Raster {
    readonly view: View;
    /** in pixels of the picture */
    readonly width: number;
    readonly height: number;
    /** pixels per CSS pixel */
    readonly ratio: number;
}

/** Return the pixel of every point by rows from the top, -1 outside the view. */
export function pixelIndexes({ u, v, count }: Points, { view, width, height }: Raster): Int32Array {
    const indexes = new Int32Array(count);
    const [ku, kv] = [width / (view.u1 - view.u0), height / (view.v1 - view.v0)];
    const { u0, v1 } = view;
    for (let k = 0; k < count; k++) {
        const i = (u[k]! - u0) * ku;
        const j = (v1 - v[k]!) * kv;
        indexes[k] = i >= 0 && j >= 0 && i < width && j < height ? (j | 0) * width + (i | 0) : -1;
    }
    return indexes;
}

/** Return the number of points in each pixel. */
export function countPixels(indexes: Int32Array, pixels: number): Float32Array {
    const hits = new Float32Array(pixels);
    for (let k = 0; k < indexes.length; k++) if (indexes[k]! >= 0) hits[indexes[k]!]!++;
    return hits;
}

/** Return the number of chosen points in each pixel. */
export function countChosenPixels(
    { rows, count }: Points,
    indexes: Int32Array,
    chosen: Uint8Array,
    pixels: number,
): Float32Array {
    // one more in front for points outside: without branches the pass takes the same time for any brush
    const hits = new Float32Array(pixels + 1);
    for (let k = 0; k < count; k++) hits[indexes[k]! + 1]! += chosen[rows[k]!]! | 0;
    return hits.subarray(1);
}
