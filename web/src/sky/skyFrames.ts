/**
 * ICRS and galactic coordinates.
 *
 * The rotation is from the Hipparcos Catalogue (ESA SP-1200, volume 1, equation 1.5.11), which carries the IAU's
 * definition of 1958 (north pole at RA 192.85948, Dec +27.12825, longitude of the ascending node 32.93192 degrees) to
 * ICRS.
 */

import { toDirection, toVector, type Direction } from './directions';

export type Frame = 'equatorial' | 'galactic';

/** Columns: the axes of the galactic frame (centre, rotation, north pole) in ICRS. */
const AXES = [
    [-0.0548755604, 0.4941094279, -0.867666149],
    [-0.8734370902, -0.44482963, -0.1980763734],
    [-0.4838350155, 0.7469822445, 0.4559837762],
] as const;

/** Convert right ascension and declination to galactic coordinates, in degrees. */
export function icrsToGalactic(ra: number, dec: number): Direction {
    const [x, y, z] = toVector(ra, dec);
    const along = (axis: 0 | 1 | 2) => AXES[0][axis] * x + AXES[1][axis] * y + AXES[2][axis] * z;
    return toDirection([along(0), along(1), along(2)]);
}

/** Convert galactic coordinates to right ascension and declination, in degrees. */
export function galacticToIcrs(l: number, b: number): Direction {
    const [x, y, z] = toVector(l, b);
    const along = (row: 0 | 1 | 2) => AXES[row][0] * x + AXES[row][1] * y + AXES[row][2] * z;
    return toDirection([along(0), along(1), along(2)]);
}

/** Return the conversion of directions in degrees between two frames. */
export function frameConversion(from: Frame, to: Frame): (longitude: number, latitude: number) => Direction {
    if (from === to) return (longitude, latitude) => [longitude, latitude];
    return to === 'galactic' ? icrsToGalactic : galacticToIcrs;
}

/**
 * Return the rotation (nine numbers, by rows) of unit vectors to a frame whose first axis is at longitude `centre`, in
 * degrees.
 */
export function frameRotation(from: Frame, to: Frame, centre: number): Float64Array {
    const axes = [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
    ].map((axis) => {
        const [x, y, z] = axis as [number, number, number];
        const [longitude, latitude] = frameConversion(from, to)(...toDirection([x, y, z]));
        return toVector(longitude - centre, latitude);
    });
    return Float64Array.from({ length: 9 }, (_, k) => axes[k % 3]![Math.floor(k / 3)]!);
}
