/**
 * The Hammer-Aitoff projection (AIT in FITS): equal-area, so densities can be compared.
 *
 * The sky is the ellipse x^2/4 + y^2 <= 1 of the plane; longitude grows to the left, as seen from inside the sphere.
 */

import { geoHammerRaw } from 'd3-geo-projection';
import { DEGREE, normalizeAngle, type Direction } from './directions';

/** x to the right from -2 sqrt(2) to 2 sqrt(2), from radians. */
const HAMMER = geoHammerRaw(2, 2);

/** Project a direction, in degrees, to x in [-2, 2] and y in [-1, 1]; `centre` is the longitude in the middle. */
export function projectDirection(longitude: number, latitude: number, centre = 0): [x: number, y: number] {
    const away = normalizeAngle(longitude - centre + 180) - 180;
    const [x, y] = HAMMER(away * DEGREE, latitude * DEGREE);
    return [-x / Math.SQRT2, y / Math.SQRT2];
}

/** Return the direction at a position of the plane, in degrees; undefined outside the sky. */
export function unprojectPosition(x: number, y: number, centre = 0): Direction | undefined {
    if (!((x * x) / 4 + y * y <= 1)) return undefined;
    const [longitude, latitude] = HAMMER.invert(-x * Math.SQRT2, y * Math.SQRT2);
    return [normalizeAngle(longitude / DEGREE + centre), latitude / DEGREE];
}

/**
 * As `projectDirection` for a unit vector, after a rotation (nine numbers, by rows) that brings the middle to the first
 * axis. Needs no angles, for many points. Writes x and y to `position`.
 */
export function projectTurned(turned: Float64Array, a: number, b: number, c: number, position: Float64Array): void {
    const x = turned[0]! * a + turned[1]! * b + turned[2]! * c;
    const y = turned[3]! * a + turned[4]! * b + turned[5]! * c;
    const z = turned[6]! * a + turned[7]! * b + turned[8]! * c;
    const across = Math.sqrt(x * x + y * y);
    // cosine and sine of half the longitude; the sine from y, which is exact near the middle
    const cosine = across > 0 ? Math.sqrt(Math.max(0, (across + x) / (2 * across))) : 1;
    const sine =
        cosine > 0.1
            ? across > 0
                ? y / (2 * across * cosine)
                : 0
            : Math.sign(y || 1) * Math.sqrt((across - x) / (2 * across));
    const scale = 1 / Math.sqrt(1 + across * cosine);
    position[0] = -2 * across * sine * scale;
    position[1] = z * scale;
}
