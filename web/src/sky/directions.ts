/** Directions on the sphere, in degrees and as unit vectors. */

export const DEGREE = Math.PI / 180;

/** Longitude and latitude in degrees. */
export type Direction = readonly [longitude: number, latitude: number];
export type Vector = readonly [number, number, number];

export function toVector(longitude: number, latitude: number): Vector {
    const across = Math.cos(latitude * DEGREE);
    return [across * Math.cos(longitude * DEGREE), across * Math.sin(longitude * DEGREE), Math.sin(latitude * DEGREE)];
}

/** Return longitude in [0, 360) and latitude in [-90, 90] degrees. */
export function toDirection([x, y, z]: Vector): Direction {
    return [normalizeAngle(Math.atan2(y, x) / DEGREE), Math.atan2(z, Math.hypot(x, y)) / DEGREE];
}

/** Bring an angle in degrees into [0, 360). */
export function normalizeAngle(angle: number): number {
    const within = angle - 360 * Math.floor(angle / 360);
    return within < 360 ? within : 0;
}

/** Return the angle between two directions, in degrees, accurate for small and large angles. */
export function separationOf(one: Direction, other: Direction): number {
    const [a, b] = [toVector(...one), toVector(...other)];
    const cross = Math.hypot(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]);
    return Math.atan2(cross, a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / DEGREE;
}

/** Return directions along the circle of `radius` degrees around a centre; 90 degrees is a great circle. */
export function circleAround(centre: Direction, radius: number, points = 181): Direction[] {
    const [longitude, latitude] = centre;
    const pole = toVector(longitude, latitude);
    const east = toVector(longitude + 90, 0);
    const north = toVector(longitude, latitude + 90);
    const [along, across] = [Math.cos(radius * DEGREE), Math.sin(radius * DEGREE)];
    return Array.from({ length: points }, (_, k) => {
        const angle = (2 * Math.PI * k) / (points - 1);
        const [e, n] = [across * Math.sin(angle), across * Math.cos(angle)];
        const at = (axis: 0 | 1 | 2) => along * pole[axis] + e * east[axis] + n * north[axis];
        return toDirection([at(0), at(1), at(2)]);
    });
}
