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
