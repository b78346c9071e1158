/** Choosing points in a rectangle or inside a line. */

import type { Points } from './plotPoints';

/** A place in the plane of scaled values. */
export type Place = readonly [u: number, v: number];
export type Inside = (u: number, v: number) => boolean;

/** Return a test for the rectangle between two corners, edges included. */
export function rectangleTest(one: Place, other: Place): Inside {
    const [u0, u1] = [Math.min(one[0], other[0]), Math.max(one[0], other[0])];
    const [v0, v1] = [Math.min(one[1], other[1]), Math.max(one[1], other[1])];
    return (u, v) => u >= u0 && u <= u1 && v >= v0 && v <= v1;
}

const BANDS = 256;

/** Return a test for the inside of a closed line (even-odd rule). Its sides are sorted into bands of v. */
export function lassoTest(line: readonly Place[]): Inside {
    if (line.length < 3) return () => false;
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
    return (u, v) => {
        if (v < low || v > high || u < left || u > right) return false;
        const sides = bands[bandOf(v)]!;
        let within = false;
        for (let k = 0; k < sides.length; k += 4) {
            const [u0, v0, u1, v1] = [sides[k]!, sides[k + 1]!, sides[k + 2]!, sides[k + 3]!];
            if (v0 > v !== v1 > v && u < u0 + ((v - v0) / (v1 - v0)) * (u1 - u0)) within = !within;
        }
        return within;
    };
}

export type Manner = 'new' | 'add' | 'remove';

/** Return one byte per row, 1 for chosen rows; undefined if none is. */
export function chosenRows(
    points: Points,
    inside: Inside,
    total: number,
    before: Uint8Array | undefined,
    manner: Manner,
): Uint8Array | undefined {
    const marks = new Uint8Array(total);
    if (before && manner !== 'new') marks.set(before.subarray(0, total));
    const mark = manner === 'remove' ? 0 : 1;
    for (let k = 0; k < points.count; k++) if (inside(points.u[k]!, points.v[k]!)) marks[points.rows[k]!] = mark;
    return marks.includes(1) ? marks : undefined;
}

/** Drop points of a line that are nearer than `least` pixels to the one before. */
export function thinLine(line: readonly Place[], least: number): Place[] {
    const kept: Place[] = [];
    for (const place of line) {
        const last = kept.at(-1);
        if (!last || Math.hypot(place[0] - last[0], place[1] - last[1]) >= least) kept.push(place);
    }
    return kept;
}
