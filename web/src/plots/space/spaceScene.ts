/** A plot in space as it is drawn: positions in the cube, colours, sizes. */

import type { Theme } from '../../canvas/canvasTheme';
import { cssToPixel } from '../../canvas/colourRamps';
import type { Size } from '../points/plotLayout';
import type { RowValues } from '../table/rowValues';
import type { Camera } from '../table/camera';
import type { SpacePoints } from './spaceRenderer';

export interface SpaceScene {
    readonly values: RowValues;
    readonly camera: Camera;
    readonly size: Size;
    readonly theme: Theme;
    readonly ratio: number;
    readonly note: string;
}

/** Return the positions of all points in the cube from -1 to 1, in an order in which every prefix is an even sample. */
function placePoints({ axes, rows }: RowValues): Float32Array<ArrayBuffer> {
    const positions = new Float32Array(3 * rows.length);
    const scales = axes.map(({ range: [from, to] }) => ({ from, factor: 2 / (to - from) }));
    forMixed(rows.length, (point, at) => {
        for (let k = 0; k < 3; k++)
            positions[3 * at + k] = (axes[k]!.values[point]! - scales[k]!.from) * scales[k]!.factor - 1;
    });
    return positions;
}

/** Call `take` with every point and its number in the mixed order. */
export function forMixed(count: number, take: (point: number, at: number) => void): void {
    const step = stepOf(count);
    for (let at = 0, point = 0; at < count; at++, point = (point + step) % count) take(point, at);
}

/** Return the point at a number of the mixed order. */
export const pointAtNumber = (number: number, count: number): number => (number * stepOf(count)) % count;

/** Return a step around the golden section of a count that reaches every number. */
function stepOf(count: number): number {
    let step = Math.max(1, Math.round(count * 0.618034));
    while (commonDivisor(step, count) > 1) step++;
    return step;
}

const commonDivisor = (one: number, other: number): number => (other ? commonDivisor(other, one % other) : one);

/** Return colour and size of each point, in the mixed order. */
function lookOfPoints({ rows, shades, sizes }: RowValues, theme: Theme): Uint8Array<ArrayBuffer> {
    const looks = new Uint8Array(4 * rows.length);
    const colours = coloursOf({ shades }, theme);
    forMixed(rows.length, (point, at) => {
        const colour = colours[shades ? shades.points[point]! : 0]!;
        looks[4 * at] = colour & 255;
        looks[4 * at + 1] = (colour >> 8) & 255;
        looks[4 * at + 2] = (colour >> 16) & 255;
        looks[4 * at + 3] = sizes ? sizes.points[point]! : 0;
    });
    return looks;
}

/** Return the colours that the shades of points name. */
export function coloursOf({ shades }: Pick<RowValues, 'shades'>, theme: Theme): Uint32Array {
    if (!shades) return Uint32Array.of(cssToPixel(theme.accent));
    return shades.type === 'values' ? theme.ramp : theme.kinds;
}

export function spacePoints(values: RowValues, theme: Theme): SpacePoints {
    return { count: values.rows.length, positions: placePoints(values), looks: lookOfPoints(values, theme) };
}

/** Return the marks of chosen points in the mixed order. */
export function markPoints({ rows }: RowValues, chosen: Uint8Array): Uint8Array<ArrayBuffer> {
    const marks = new Uint8Array(rows.length);
    forMixed(rows.length, (point, at) => (marks[at] = chosen[rows[point]!] ?? 0));
    return marks;
}

/** Return the radius of the smallest and the largest disc, in CSS pixels at the distance of the middle. */
export function discRadii({ rows, sizes, settings }: RowValues): [number, number] {
    const count = rows.length;
    const usual = (count > 300_000 ? 0.7 : count > 30_000 ? 1 : count > 3000 ? 1.8 : 3) * settings.size;
    return sizes ? [0.6 * usual, 3.5 * usual] : [usual, usual];
}
