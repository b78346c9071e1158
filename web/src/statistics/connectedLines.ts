/** Lines through points in an order, thinned to what a screen can show. */

interface Positions {
    readonly u: Float64Array;
    readonly v: Float64Array;
    readonly count: number;
}

/** Most points that are connected one by one. */
export const MAX_SEGMENTS = 20_000;
/** Most points that are ordered by another column than u. */
export const MAX_ORDERED = 200_000;

/** Return the points of each group in ascending order of their keys, as indices; points without a key are left out. */
export function orderPoints(keys: Float64Array, groups: Uint8Array | undefined): Uint32Array[] {
    const members = new Map<number, number[]>();
    keys.forEach((key, point) => {
        if (Number.isNaN(key)) return;
        const group = groups?.[point] ?? 0;
        const known = members.get(group) ?? [];
        if (known.length === 0) members.set(group, known);
        known.push(point);
    });
    const inOrder = [...members].sort(([one], [other]) => one - other);
    return inOrder.map(([, own]) =>
        Uint32Array.from(own).sort((one, other) => keys[one]! - keys[other]! || one - other),
    );
}

/**
 * Thin the points of each group so that their line in ascending u looks the same: of each of `columns` columns between
 * u0 and u1, and of what lies on either side, the first, last, lowest and highest point (M4, Jugel et al. 2014).
 */
export function thinByColumns(
    { u, v, count }: Positions,
    groups: Uint8Array | undefined,
    [u0, u1]: readonly [number, number],
    columns: number,
): Uint32Array[] {
    const perColumn = columns / (u1 - u0);
    const kept = new Map<number, Int32Array>();
    for (let point = 0; point < count; point++) {
        const group = groups?.[point] ?? 0;
        let extremes = kept.get(group);
        if (!extremes) kept.set(group, (extremes = new Int32Array(4 * (columns + 2)).fill(-1)));
        const column = Math.max(0, Math.min(columns + 1, Math.floor((u[point]! - u0) * perColumn) + 1));
        takeExtremes(extremes, 4 * column, point, u, v);
    }
    const inOrder = [...kept].sort(([one], [other]) => one - other);
    return inOrder.map(([, extremes]) => {
        const points = [...new Set(extremes)].filter((point) => point >= 0);
        return Uint32Array.from(points).sort((one, other) => u[one]! - u[other]! || one - other);
    });
}

/** Keep a point that is the first, last, lowest or highest of its column. */
function takeExtremes(extremes: Int32Array, at: number, point: number, u: Float64Array, v: Float64Array): void {
    const [first, last, low, high] = [extremes[at]!, extremes[at + 1]!, extremes[at + 2]!, extremes[at + 3]!];
    if (first < 0 || u[point]! < u[first]!) extremes[at] = point;
    if (last < 0 || u[point]! >= u[last]!) extremes[at + 1] = point;
    if (low < 0 || v[point]! < v[low]!) extremes[at + 2] = point;
    if (high < 0 || v[point]! > v[high]!) extremes[at + 3] = point;
}
