/** Directions on the sphere: degrees outside, unit vectors inside. */

export const DEGREE = Math.PI / 180;

/** A direction: longitude and latitude in degrees. */
export type Direction = readonly [longitude: number, latitude: number];
export type Vector = readonly [number, number, number];

/** The unit vector of a direction in degrees. */
export function toVector(longitude: number, latitude: number): Vector {
    const across = Math.cos(latitude * DEGREE);
    return [across * Math.cos(longitude * DEGREE), across * Math.sin(longitude * DEGREE), Math.sin(latitude * DEGREE)];
}

/** The direction of a vector: longitude in [0, 360), latitude in [-90, 90] degrees. */
export function toDirection([x, y, z]: Vector): Direction {
    return [normalizeAngle(Math.atan2(y, x) / DEGREE), Math.atan2(z, Math.hypot(x, y)) / DEGREE];
}

/** An angle in degrees brought into [0, 360). */
export function normalizeAngle(angle: number): number {
    const within = angle - 360 * Math.floor(angle / 360);
    return within < 360 ? within : 0;
}

/** The angle between two directions, in degrees; good for small and for large ones. */
export function separationOf(one: Direction, other: Direction): number {
    const [a, b] = [toVector(...one), toVector(...other)];
    const cross = Math.hypot(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]);
    return Math.atan2(cross, a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / DEGREE;
}

/** Directions along the circle of `radius` degrees about a centre; of 90 degrees it is a great circle. */
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
