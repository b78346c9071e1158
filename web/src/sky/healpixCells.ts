/**
 * HEALPix in the NESTED numbering, orders 0 to 12 (the indices fit 32 bits).
 *
 * After Gorski et al. 2005 and Calabretta & Roukema 2007: the sphere is laid out in a plane where the twelve faces are
 * equal diamonds; X grows with longitude, one per 45 degrees; Y is in [-2, 2]. In a face, x goes to the north-east.
 */

import { DEGREE, normalizeAngle } from './directions';

export const MAX_ORDER = 12;

/** Return the number of cells of an order. */
export const cellCount = (order: number): number => 12 * 4 ** order;

/** Return the NESTED index of the cell that contains a direction (degrees); -1 if it is invalid. */
export function cellAt(order: number, longitude: number, latitude: number): number {
    if (!(Math.abs(latitude) <= 90) || !Number.isFinite(longitude)) return -1;
    return cellOf(order, normalizeAngle(longitude) / 90, Math.sin(latitude * DEGREE), Math.cos(latitude * DEGREE));
}

/** As `cellAt` for a unit vector, for many directions. */
export function cellOfVector(order: number, x: number, y: number, z: number): number {
    return cellOf(order, normalizeAngle(Math.atan2(y, x) / DEGREE) / 90, z, Math.hypot(x, y));
}

/** `quarter`: longitude in units of 90 degrees; `z`, `across`: sine and cosine of the latitude. */
function cellOf(order: number, quarter: number, z: number, across: number): number {
    findInFace(quarter, z, across, FOUND);
    return cellOfPosition(order, FOUND);
}

const FOUND = new Float64Array(3);

/** Write the face of a unit vector, and the position in it, x and y from 0 to 1, to `position`. */
export function positionInFace(x: number, y: number, z: number, position: Float64Array): void {
    findInFace(normalizeAngle(Math.atan2(y, x) / DEGREE) / 90, z, Math.hypot(x, y), position);
}

/** Return the NESTED index of the cell of a position that `positionInFace` found. */
export function cellOfPosition(order: number, position: Float64Array): number {
    const side = 2 ** order;
    const x = Math.max(0, Math.min(side - 1, Math.floor(position[1]! * side)));
    const y = Math.max(0, Math.min(side - 1, Math.floor(position[2]! * side)));
    return position[0]! * side * side + (spreadBits(x) | (spreadBits(y) << 1));
}

function findInFace(quarter: number, z: number, across: number, position: Float64Array): void {
    if (Math.abs(z) >= 2 / 3) return findInPolarFace(quarter, z, across, position);
    // at 45 degrees to the plane's axes the faces are unit squares
    const a = (1.5 * z + 2 * quarter + 1) / 2;
    const b = (1.5 * z - 2 * quarter + 1) / 2;
    const [column, row] = [Math.floor(a), Math.floor(b)];
    position[0] = column + row > 0 ? -row : column + row < 0 ? column + 8 : (column & 3) + 4;
    position[1] = a - column;
    position[2] = b - row;
}

function findInPolarFace(quarter: number, z: number, across: number, position: Float64Array): void {
    const column = Math.min(3, Math.floor(quarter));
    const width = across * Math.sqrt(3 / (1 + Math.abs(z)));
    const aside = (2 * (quarter - column) - 1) * width;
    // distance north of the face's southern corner, 0 to 2
    const up = z > 0 ? 2 - width : width;
    position[0] = z > 0 ? column : column + 8;
    position[1] = (up + aside) / 2;
    position[2] = (up - aside) / 2;
}

/** Spread the bits of a number to the even positions. */
function spreadBits(value: number): number {
    let bits = value;
    bits = (bits | (bits << 8)) & 0x00ff00ff;
    bits = (bits | (bits << 4)) & 0x0f0f0f0f;
    bits = (bits | (bits << 2)) & 0x33333333;
    return (bits | (bits << 1)) & 0x55555555;
}

/** Sum counts of some cells of `order` into an array of all cells of the coarser order `to`. */
export function coarsenCounts(
    order: number,
    cells: ArrayLike<number>,
    counts: ArrayLike<number>,
    to: number,
): Float64Array<ArrayBuffer> {
    const whole = new Float64Array(cellCount(to));
    const into = 4 ** (order - to);
    for (let k = 0; k < cells.length; k++) whole[Math.floor(cells[k]! / into)]! += counts[k]!;
    return whole;
}
