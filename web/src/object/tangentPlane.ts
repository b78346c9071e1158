/** Positions on the plane that touches the sky at a position (gnomonic projection, TAN in FITS), in degrees. */

import { DEGREE, type Direction } from '../sky/directions';

/** Return the position of a direction: eastwards and northwards; undefined on the other half of the sky. */
export function projectTangent([ra0, dec0]: Direction, ra: number, dec: number): readonly [number, number] | undefined {
    const away = (ra - ra0) * DEGREE;
    const [sin0, cos0] = [Math.sin(dec0 * DEGREE), Math.cos(dec0 * DEGREE)];
    const [sine, cosine] = [Math.sin(dec * DEGREE), Math.cos(dec * DEGREE)];
    const along = sin0 * sine + cos0 * cosine * Math.cos(away);
    if (along <= 0) return undefined;
    const east = (cosine * Math.sin(away)) / along;
    const north = (cos0 * sine - sin0 * cosine * Math.cos(away)) / along;
    return [east / DEGREE, north / DEGREE];
}

/** Return the angle between two directions in degrees, exact also where it is small (haversine). */
export function separation([ra1, dec1]: Direction, [ra2, dec2]: Direction): number {
    const half = (angle: number) => Math.sin((angle * DEGREE) / 2) ** 2;
    const square = half(dec2 - dec1) + Math.cos(dec1 * DEGREE) * Math.cos(dec2 * DEGREE) * half(ra2 - ra1);
    return (2 * Math.asin(Math.min(1, Math.sqrt(square)))) / DEGREE;
}
