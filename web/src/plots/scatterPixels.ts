/**
 * Draws many points as pixels. Points are counted per pixel, then every pixel with points is stamped once with a disc:
 * with more points than pixels, the time depends on the pixels.
 */

import type { Ramp } from '../canvas/colourRamps';
import type { Points } from './plotPoints';
import type { View } from '../canvas/plotView';
import { stampDiscs } from './discStamps';
import { pixelPlaces, type Raster } from './pointPlaces';

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
    /** shades are ordered values: overlapping points get the mean shade, else the mean colour */
    readonly continuous: boolean;
    /** the pixel of every point, if it is known */
    readonly places?: Int32Array | undefined;
    /** half the length of vertical error bars, in values */
    readonly errors?: Float64Array | undefined;
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
    for (const place of pixelPlaces(points, raster)) if (place >= 0) hits[place]!++;
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
    if (mark.errors) gatherErrors(points, raster, mark, drawn);
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

/** Return the contribution of each shade to the sums: the shade itself, or its colour's components. */
function shadeParts({ shades, continuous, colours }: Mark): Float32Array {
    const table = new Float32Array(colours.length * 3);
    if (!shades) return table;
    colours.forEach((colour, shade) => {
        const values = continuous ? [shade, 0, 0] : [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255];
        table.set(values, 3 * shade);
    });
    return table;
}

function gatherPoints(points: Points, raster: Raster, mark: Mark, layers: Float32Array[]): void {
    const [hits, sum, other] = layers;
    const at = mark.places ?? pixelPlaces(points, raster);
    const { count } = points;
    if (!sum) {
        for (let k = 0; k < count; k++) if (at[k]! >= 0) hits![at[k]!]!++;
        return;
    }
    if (!other) {
        const shades = mark.shades!;
        for (let k = 0; k < count; k++) {
            const place = at[k]!;
            if (place < 0) continue;
            hits![place]!++;
            sum[place]! += shades[k]!;
        }
        return;
    }
    const add = shadeAdder(mark, layers)!;
    for (let k = 0; k < count; k++) {
        const place = at[k]!;
        if (place < 0) continue;
        hits![place]!++;
        add(place, k, 1);
    }
}

type Add = (at: number, point: number, weight: number) => void;

function shadeAdder(mark: Mark, [, one, two, three]: Float32Array[]): Add | undefined {
    const { shades } = mark;
    if (!shades || !one) return undefined;
    const table = shadeParts(mark);
    if (!two || !three) return (at, point, weight) => void (one[at]! += weight * table[3 * shades[point]!]!);
    return (at, point, weight) => {
        const shade = 3 * shades[point]!;
        one[at]! += weight * table[shade]!;
        two[at]! += weight * table[shade + 1]!;
        three[at]! += weight * table[shade + 2]!;
    };
}

/** Opacity of an error bar relative to its point. */
const BAR = 0.5;

function gatherErrors(points: Points, { view, width, height }: Raster, mark: Mark, layers: Float32Array[]): void {
    const [ku, kv] = [width / (view.u1 - view.u0), height / (view.v1 - view.v0)];
    const hits = layers[0]!;
    const add = shadeAdder(mark, layers);
    for (let k = 0; k < points.count; k++) {
        const error = mark.errors![points.rows[k]!]!;
        const i = Math.floor((points.u[k]! - view.u0) * ku);
        if (!(error > 0) || i < 0 || i >= width) continue;
        const ends = [(view.v1 - points.v[k]! - error) * kv, (view.v1 - points.v[k]! + error) * kv];
        const to = Math.min(height - 1, Math.floor(Math.max(...ends)));
        for (let j = Math.max(0, Math.floor(Math.min(...ends))); j <= to; j++) {
            hits[j * width + i]! += BAR;
            if (add) add(j * width + i, k, BAR);
        }
    }
}

/** Return the opacity for sixteenths of a point. */
function opacityTable(opacity: number): Uint8Array {
    const clear = 1 - Math.min(0.999, opacity);
    return Uint8Array.from({ length: 512 }, (_, k) => Math.round(255 * (1 - clear ** (k / 16))));
}

function colourPixels(
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
