/**
 * Draws many points as pixels. Points are counted per pixel, then every pixel with points is stamped once with a disc:
 * with more points than pixels, the time depends on the pixels.
 */

import type { Ramp } from '../../canvas/colourRamps';
import type { Points } from './plotPoints';
import type { View } from '../../canvas/plotView';
import { stampDiscs } from './discStamps';
import { pixelIndexes, type Raster } from './pointPixels';

export interface Mark {
    /** factor on the default size */
    readonly size: number;
    /** least radius of the discs, in CSS pixels; below 0.6 pixels a point is one pixel */
    readonly least?: number;
    /** of one point, 0 to 1 */
    readonly opacity: number;
    /** index into `colours` for every point; undefined: the first */
    readonly shades?: Uint8Array | undefined;
    readonly colours: Ramp;
    /** shades are ordered values: overlapping points get the mean shade; for other colours, the mean colour */
    readonly continuous: boolean;
    /** the pixel of every point, if it is known */
    readonly indexes?: Int32Array | undefined;
}

/** Denser points are drawn in CSS pixels even on finer screens. */
const DENSE = 0.5;

/** Return the raster's pixels per CSS pixel for `count` points on `area` CSS pixels. */
export const rasterRatio = (count: number, area: number, ratio: number): number =>
    count > DENSE * area ? Math.min(1, ratio) : ratio;

/** Return the number of points in a view. */
export function countIn({ u, v, count }: Points, view: View): number {
    const [u0, u1] = [Math.min(view.u0, view.u1), Math.max(view.u0, view.u1)];
    const [v0, v1] = [Math.min(view.v0, view.v1), Math.max(view.v0, view.v1)];
    let found = 0;
    for (let k = 0; k < count; k++) if (u[k]! >= u0 && u[k]! <= u1 && v[k]! >= v0 && v[k]! <= v1) found++;
    return found;
}

/** Return the default radius of points, in pixels of the raster, from the share of pixels that have points. */
function usualRadius(layer: Float32Array, ratio: number): number {
    let occupied = 0;
    for (let at = 0; at < layer.length; at++) if (layer[at]! > 0) occupied++;
    const share = occupied / Math.max(1, layer.length);
    const radius = share > 0.2 ? 0.5 : share > 0.06 ? 0.8 : share > 0.02 ? 1.3 : share > 0.004 ? 2 : 3;
    return radius * ratio;
}

/** Return the default radius of a view's points, in CSS pixels. */
export function pointRadius(points: Points, raster: Raster): number {
    const hits = new Float32Array(raster.width * raster.height);
    for (const index of pixelIndexes(points, raster)) if (index >= 0) hits[index]!++;
    return usualRadius(hits, raster.ratio) / raster.ratio;
}

/** Return the default opacity of points from their density. */
export function usualOpacity(count: number, area: number): number {
    const share = count / Math.max(1, area);
    return share > 4 ? 0.25 : share > 1 ? 0.4 : share > 0.1 ? 0.6 : 0.85;
}

/** Return the pixels of a view's points, transparent elsewhere. */
export function scatterPixels(points: Points, raster: Raster, mark: Mark): Uint32Array<ArrayBuffer> {
    const sums = mark.shades ? (mark.continuous ? 1 : 3) : 0;
    const layers = Array.from({ length: 1 + sums }, () => new Float32Array(raster.width * raster.height));
    gatherPoints(points, raster, mark, layers);
    const radius = Math.max(usualRadius(layers[0]!, raster.ratio) * mark.size, (mark.least ?? 0) * raster.ratio);
    const drawn = radius < 0.6 ? layers : stampDiscs(layers, raster, radius);
    return colourPixels(drawn, mark);
}

/** Return the pixels of points that are counted by pixel, all of one colour. */
export function hitPixels(
    hits: Float32Array,
    raster: Raster,
    mark: Pick<Mark, 'size' | 'least' | 'opacity' | 'colours'>,
): Uint32Array<ArrayBuffer> {
    const radius = Math.max(usualRadius(hits, raster.ratio) * mark.size, (mark.least ?? 0) * raster.ratio);
    return colourPixels(radius < 0.6 ? [hits] : stampDiscs([hits], raster, radius), mark);
}

/** Return red, green and blue of each colour, one after the other. */
export const colourParts = (colours: Ramp): Float32Array =>
    Float32Array.from([...colours].flatMap((colour) => [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255]));

function gatherPoints(points: Points, raster: Raster, mark: Mark, layers: Float32Array[]): void {
    const [hits, one, two, three] = layers;
    const at = mark.indexes ?? pixelIndexes(points, raster);
    const { count } = points;
    if (!one) {
        for (let k = 0; k < count; k++) if (at[k]! >= 0) hits![at[k]!]!++;
        return;
    }
    const shades = mark.shades!;
    if (!two || !three) {
        for (let k = 0; k < count; k++) {
            const index = at[k]!;
            if (index < 0) continue;
            hits![index]!++;
            one[index]! += shades[k]!;
        }
        return;
    }
    const parts = colourParts(mark.colours);
    for (let k = 0; k < count; k++) {
        const index = at[k]!;
        if (index < 0) continue;
        const shade = 3 * shades[k]!;
        hits![index]!++;
        one[index]! += parts[shade]!;
        two[index]! += parts[shade + 1]!;
        three[index]! += parts[shade + 2]!;
    }
}

/** Return the opacity for sixteenths of a point. */
function opacityTable(opacity: number): Uint8Array {
    const clear = 1 - Math.min(0.999, opacity);
    return Uint8Array.from({ length: 512 }, (_, k) => Math.round(255 * (1 - clear ** (k / 16))));
}

/** Return pixels from hits and sums of colours. */
export function colourPixels(
    [hits, one, two, three]: Float32Array[],
    mark: Pick<Mark, 'opacity' | 'colours'>,
): Uint32Array<ArrayBuffer> {
    const pixels = new Uint32Array(hits!.length);
    const { colours } = mark;
    const alpha = opacityTable(mark.opacity);
    const first = colours[0]! & 0xffffff;
    for (let at = 0; at < pixels.length; at++) {
        const hit = hits![at]!;
        if (hit === 0) continue;
        const opaque = alpha[Math.min(511, Math.round(hit * 16))]! << 24;
        let colour = first;
        if (two && three) {
            const [red, green, blue] = [one![at]! / hit, two[at]! / hit, three[at]! / hit];
            colour = (Math.round(blue) << 16) | (Math.round(green) << 8) | Math.round(red);
        } else if (one) colour = colours[Math.round(one[at]! / hit)]! & 0xffffff;
        pixels[at] = opaque | colour;
    }
    return pixels;
}
