/** Points from columns: logarithms, projected positions, folded times. */

import { DEGREE } from '../../sky/directions';
import { frameRotation, type Frame } from '../../sky/skyFrames';
import { projectTurned } from '../../sky/hammerAitoff';

/** The drawable points, each with its row. */
export interface Points {
    readonly rows: Uint32Array<ArrayBuffer>;
    readonly u: Float64Array<ArrayBuffer>;
    readonly v: Float64Array<ArrayBuffer>;
    readonly count: number;
    /** rows without a value: NULL, NaN or infinite */
    readonly missing: number;
    /** rows without a logarithm: zero or negative */
    readonly notPositive: number;
    readonly extent: Extent;
}

/** Least and greatest u and v; NaN without points. */
export interface Extent {
    readonly u0: number;
    readonly u1: number;
    readonly v0: number;
    readonly v1: number;
}

/** The values of one axis before scaling. */
export interface AxisValues {
    readonly values: Float64Array;
    readonly minus?: Float64Array | undefined;
    readonly log: boolean;
}

class PointGatherer {
    readonly rows: Uint32Array<ArrayBuffer>;
    readonly u: Float64Array<ArrayBuffer>;
    readonly v: Float64Array<ArrayBuffer>;
    count = 0;
    missing = 0;
    notPositive = 0;

    constructor(size: number) {
        this.rows = new Uint32Array(size);
        this.u = new Float64Array(size);
        this.v = new Float64Array(size);
    }

    addPoint(row: number, u: number, v: number): void {
        const at = this.count++;
        this.rows[at] = row;
        this.u[at] = u;
        this.v[at] = v;
    }

    toPoints(): Points {
        const { count, missing, notPositive } = this;
        const [u, v] = [this.u.subarray(0, count), this.v.subarray(0, count)];
        const [[u0, u1], [v0, v1]] = [extentOf(u), extentOf(v)];
        return { rows: this.rows.subarray(0, count), u, v, count, missing, notPositive, extent: { u0, u1, v0, v1 } };
    }
}

/** Return the least and greatest value; NaN if there is none. */
export function extentOf(values: Float64Array): [number, number] {
    let [least, most] = [Infinity, -Infinity];
    for (let k = 0; k < values.length; k++) {
        const value = values[k]!;
        if (value < least) least = value;
        if (value > most) most = value;
    }
    return least <= most ? [least, most] : [NaN, NaN];
}

/** Scale the values of an axis by row: NaN without a value, -Infinity without a logarithm. */
export function scaleValues({ values, minus, log }: AxisValues): Float64Array<ArrayBuffer> {
    const result = new Float64Array(values.length);
    for (let row = 0; row < values.length; row++) {
        const value = minus ? values[row]! - minus[row]! : values[row]!;
        result[row] = !Number.isFinite(value) ? NaN : !log ? value : value > 0 ? Math.log10(value) : -Infinity;
    }
    return result;
}

/** Return the points of two axes for the rows of `order`; skip rows that have not arrived. */
export function planePoints(order: Uint32Array, x: AxisValues, y: AxisValues): Points {
    const [u, v] = [scaleValues(x), scaleValues(y)];
    const gathered = new PointGatherer(order.length);
    const known = Math.min(u.length, v.length);
    for (let k = 0; k < order.length; k++) {
        const row = order[k]!;
        if (row >= known) continue;
        const [at, up] = [u[row]!, v[row]!];
        if (Number.isFinite(at) && Number.isFinite(up)) gathered.addPoint(row, at, up);
        else if (Number.isNaN(at) || Number.isNaN(up)) gathered.missing++;
        else gathered.notPositive++;
    }
    return gathered.toPoints();
}

/** Return the points of one axis; v is 0. */
export function linePoints(order: Uint32Array, x: AxisValues): Points {
    return planePoints(order, x, { values: new Float64Array(x.values.length), log: false });
}

/** Frames and units of directions. */
export interface SkyFrames {
    readonly from: Frame;
    readonly to: Frame;
    /** longitude in the middle, degrees of the frame shown */
    readonly centre: number;
    /** degrees per unit of the longitude and latitude columns */
    readonly units: readonly [number, number];
}

/** Return the degrees per unit of angle; columns without a unit are in degrees. */
export function degreesOf(unit: string): number {
    const known: Record<string, number> = { rad: 1 / DEGREE, h: 15, arcmin: 1 / 60, arcsec: 1 / 3600, mas: 1 / 3.6e6 };
    return known[unit] ?? 1;
}

/** Return the projected points of the sky. Latitudes beyond the poles count as missing. */
export function skyPoints(
    order: Uint32Array,
    longitudes: Float64Array,
    latitudes: Float64Array,
    { from, to, centre, units }: SkyFrames,
): Points {
    const gathered = new PointGatherer(order.length);
    const known = Math.min(longitudes.length, latitudes.length);
    const turned = frameRotation(from, to, centre);
    const position = new Float64Array(2);
    for (let k = 0; k < order.length; k++) {
        const row = order[k]!;
        if (row >= known) continue;
        const longitude = longitudes[row]! * units[0] * DEGREE;
        const latitude = latitudes[row]! * units[1] * DEGREE;
        if (Number.isFinite(longitude) && Math.abs(latitude) <= QUARTER) {
            const across = Math.cos(latitude);
            projectTurned(
                turned,
                across * Math.cos(longitude),
                across * Math.sin(longitude),
                Math.sin(latitude),
                position,
            );
            gathered.addPoint(row, position[0]!, position[1]!);
        } else gathered.missing++;
    }
    return gathered.toPoints();
}

const QUARTER = 90.0000001 * DEGREE;

/** Fold times by a period of the same unit, with phase 0 at `zero`: phases from 0 to 2, every point twice. */
export function foldPoints(points: Points, period: number, zero = 0): Points {
    if (!(period > 0)) return points;
    const gathered = new PointGatherer(2 * points.count);
    for (const cycle of [0, 1]) {
        for (let k = 0; k < points.count; k++) {
            const turns = (points.u[k]! - zero) / period;
            gathered.addPoint(points.rows[k]!, turns - Math.floor(turns) + cycle, points.v[k]!);
        }
    }
    const { missing, notPositive } = points;
    const { extent, ...rest } = gathered.toPoints();
    return { ...rest, missing, notPositive, extent: points.count ? { ...extent, u0: 0, u1: 2 } : extent };
}
