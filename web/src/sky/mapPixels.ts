/** Maps of HEALPix cells as pixels. */

import type { Ramp } from '../canvas/colourRamps';
import type { View } from '../canvas/plotView';
import { frameConversion, type Frame } from './skyFrames';
import { cellAt } from './healpixCells';
import { unprojectPosition } from './hammerAitoff';

/** Frame, longitude in the middle (degrees), view and size of a map. */
export interface MapLayout {
    readonly frame: Frame;
    readonly centre: number;
    readonly view: View;
    readonly width: number;
    readonly height: number;
}

/** Return the NESTED cell (ICRS) at the middle of every pixel, row by row from the top; -1 off the sky. */
export function cellsOfPixels(order: number, { frame, centre, view, width, height }: MapLayout): Int32Array {
    const cells = new Int32Array(width * height);
    const toIcrs = frameConversion(frame, 'equatorial');
    const [du, dv] = [(view.u1 - view.u0) / width, (view.v1 - view.v0) / height];
    for (let j = 0; j < height; j++) {
        const v = view.v1 - (j + 0.5) * dv;
        for (let i = 0; i < width; i++) {
            const at = unprojectPosition(view.u0 + (i + 0.5) * du, v, centre);
            cells[j * width + i] = at ? cellAt(order, ...toIcrs(at[0], at[1])) : -1;
        }
    }
    return cells;
}

/** Return the least positive and the greatest count; [0, 0] if there is none. */
export function countRange(counts: ArrayLike<number>): [least: number, most: number] {
    let [least, most] = [Infinity, 0];
    for (let k = 0; k < counts.length; k++) {
        const count = counts[k]!;
        if (count > 0 && count < least) least = count;
        if (count > most) most = count;
    }
    return most > 0 ? [least, most] : [0, 0];
}

/** Return the shade, out of 256, of a value on a logarithmic scale. */
export function logShade(value: number, [least, most]: readonly [number, number]): number {
    if (most <= least) return 255;
    const part = Math.log(value / least) / Math.log(most / least);
    return Math.max(0, Math.min(255, Math.round(part * 255)));
}

/** Colour pixels by the counts of their cells: `empty` without rows, transparent off the sky. */
export function paintCells(
    cells: Int32Array,
    counts: ArrayLike<number>,
    range: readonly [number, number],
    colours: Ramp,
    empty: number,
): Uint32Array<ArrayBuffer> {
    const pixels = new Uint32Array(cells.length);
    for (let k = 0; k < cells.length; k++) {
        const cell = cells[k]!;
        if (cell < 0) continue;
        const count = counts[cell]!;
        pixels[k] = count > 0 ? colours[logShade(count, range)]! : empty;
    }
    return pixels;
}
