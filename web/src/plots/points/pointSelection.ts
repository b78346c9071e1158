/** Choosing points in a rectangle or inside a line. */

import type { PlanePosition } from '../../canvas/plotView';
import type { Extent, Points } from './plotPoints';

/** An area of the plane: all of a rectangle, or what a test says of the positions in it. */
export interface Area {
    readonly bounds: Extent;
    readonly holds?: (u: number, v: number) => boolean;
}

/** Return the rectangle between two corners, edges included. */
export function rectangleArea(one: PlanePosition, other: PlanePosition): Area {
    const [u0, u1] = [Math.min(one[0], other[0]), Math.max(one[0], other[0])];
    const [v0, v1] = [Math.min(one[1], other[1]), Math.max(one[1], other[1])];
    return { bounds: { u0, u1, v0, v1 } };
}

const BANDS = 256;

/** Return the inside of a closed line (even-odd rule). Its sides are sorted into bands of v. */
export function lassoArea(line: readonly PlanePosition[]): Area {
    if (line.length < 3) return { bounds: { u0: NaN, u1: NaN, v0: NaN, v1: NaN } };
    const vs = line.map(([, v]) => v);
    const us = line.map(([u]) => u);
    const [low, high] = [Math.min(...vs), Math.max(...vs)];
    const [left, right] = [Math.min(...us), Math.max(...us)];
    const perBand = BANDS / (high - low || 1);
    const bandOf = (v: number) => Math.min(BANDS - 1, Math.floor((v - low) * perBand));
    const bands: number[][] = Array.from({ length: BANDS }, () => []);
    line.forEach(([u, v], k) => {
        const [nextU, nextV] = line[(k + 1) % line.length]!;
        if (v === nextV) return;
        const [from, to] = [bandOf(Math.min(v, nextV)), bandOf(Math.max(v, nextV))];
        for (let band = from; band <= to; band++) bands[band]!.push(u, v, nextU, nextV);
    });
    const holds = (u: number, v: number): boolean => {
        const sides = bands[bandOf(v)]!;
        let within = false;
        for (let k = 0; k < sides.length; k += 4) {
            const [u0, v0, u1, v1] = [sides[k]!, sides[k + 1]!, sides[k + 2]!, sides[k + 3]!];
            if (v0 > v !== v1 > v && u < u0 + ((v - v0) / (v1 - v0)) * (u1 - u0)) within = !within;
        }
        return within;
    };
    return { bounds: { u0: left, u1: right, v0: low, v1: high }, holds };
}

export type Manner = 'new' | 'add' | 'remove';

/** Return one byte per row, 1 for chosen rows; undefined if none is. Runs at every step of a brush over all points. */
export function chosenRows(
    points: Points,
    area: Area,
    total: number,
    before: Uint8Array | undefined,
    manner: Manner,
): Uint8Array | undefined {
    const marks = new Uint8Array(total);
    if (before && manner !== 'new') marks.set(before.subarray(0, total));
    const found = manner === 'remove' ? new Uint8Array(total) : marks;
    if (area.holds) markInside(points, area.bounds, area.holds, found);
    else markWithin(points, area.bounds, found);
    if (manner === 'remove') for (let row = 0; row < total; row++) marks[row]! &= 1 - found[row]!;
    return marks.includes(1) ? marks : undefined;
}

function markWithin({ rows, u, v, count }: Points, { u0, u1, v0, v1 }: Extent, marks: Uint8Array): void {
    for (let k = 0; k < count; k++) {
        const at = u[k]!;
        const up = v[k]!;
        // @ts-expect-error & of booleans, unlike &&, has no branches to mispredict: a fifth of the time
        marks[rows[k]!]! |= (at >= u0) & (at <= u1) & (up >= v0) & (up <= v1);
    }
}

function markInside(
    { rows, u, v, count }: Points,
    { u0, u1, v0, v1 }: Extent,
    holds: NonNullable<Area['holds']>,
    marks: Uint8Array,
): void {
    for (let k = 0; k < count; k++) {
        const at = u[k]!;
        const up = v[k]!;
        if (at >= u0 && at <= u1 && up >= v0 && up <= v1 && holds(at, up)) marks[rows[k]!] = 1;
    }
}

/** Drop points of a line that are nearer than `least` pixels to the one before. */
export function thinLine(line: readonly PlanePosition[], least: number): PlanePosition[] {
    const kept: PlanePosition[] = [];
    for (const position of line) {
        const last = kept.at(-1);
        if (!last || Math.hypot(position[0] - last[0], position[1] - last[1]) >= least) kept.push(position);
    }
    return kept;
}
