/**
 * The Hammer-Aitoff projection (AIT of FITS): equal areas, so that densities may be compared.
 *
 * The sky is the ellipse x^2/4 + y^2 <= 1 of the plane; longitude grows to the left, as seen from inside the sphere.
 */

import { DEGREE, turn, type Direction } from './angles';

/** Where a direction is in the plane; `centre` is the longitude in the middle. All in degrees; x in [-2, 2], y in [-1, 1]. */
export function project(longitude: number, latitude: number, centre = 0): [x: number, y: number] {
    const half = ((turn(longitude - centre + 180) - 180) * DEGREE) / 2;
    const across = Math.cos(latitude * DEGREE);
    const scale = 1 / Math.sqrt(1 + across * Math.cos(half));
    return [-2 * across * Math.sin(half) * scale, Math.sin(latitude * DEGREE) * scale];
}

/** The direction at a place of the plane, in degrees; undefined outside of the sky. */
export function unproject(x: number, y: number, centre = 0): Direction | undefined {
    if ((x * x) / 4 + y * y > 1) return undefined;
    const square = 1 - (x * x) / 8 - (y * y) / 2;
    const z = Math.sqrt(square);
    const longitude = (2 * Math.atan2((-z * x) / Math.SQRT2, 2 * square - 1)) / DEGREE;
    return [turn(longitude + centre), Math.asin(Math.max(-1, Math.min(1, Math.SQRT2 * z * y))) / DEGREE];
}
