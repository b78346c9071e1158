/** An area drawn on the map of the sky as the vertices of a polygon on the sphere. */

import { geoInterpolate } from 'd3-geo';
import { DEGREE, type Direction } from './directions';
import { projectDirection, unprojectPosition } from './hammerAitoff';
import { frameConversion, type Frame } from './skyFrames';
import type { PlanePosition } from '../canvas/plotView';

export interface Outline {
    /** the closed line in the plane of the projection */
    readonly line: readonly PlanePosition[];
    /** longitude in the middle of the map, degrees */
    readonly centre: number;
    /** of the map */
    readonly frame: Frame;
    /** size of a pixel in the plane: sides follow the line to half of it */
    readonly pixel: number;
}

/** Area of half the sky in the plane of the equal-area projection, whose ellipse has the half-axes 2 and 1. */
const HALF_SKY = Math.PI;
const MOST_SPLITS = 7;

/**
 * Return the vertices in another frame, in degrees. The sides of a polygon are great circles: straight lines of the map
 * are split until these follow them to half a pixel. Return undefined if no polygon is the same area: the line crosses
 * itself, reaches both ends of the map, or encloses half the sky, of which ADQL would take the smaller part.
 */
export function outlineVertices({ line, centre, frame, pixel }: Outline, to: Frame): Direction[] | undefined {
    const inside = dropRepeated(
        line.flatMap((position, k) => splitOutside(position, line[(k + 1) % line.length]!)).map(toEllipse),
        pixel,
    );
    if (inside.length < 3 || crossesItself(inside) || Math.abs(planeArea(inside)) > 0.9 * HALF_SKY) return undefined;
    const edges = inside.filter((position) => isOnEdge(position));
    if (edges.some(([u]) => u < 0) && edges.some(([u]) => u > 0)) return undefined;
    const positions = inside.flatMap((position, k) =>
        splitSide(position, inside[(k + 1) % inside.length]!, centre, pixel, 0),
    );
    const convert = frameConversion(frame, to);
    return positions.map((position) => convert(...directionOf(position, centre)));
}

const ellipseOf = ([u, v]: PlanePosition) => Math.sqrt((u * u) / 4 + v * v);
const EDGE = 1 - 1e-9;
const isOnEdge = (position: PlanePosition) => ellipseOf(position) > EDGE - 1e-9;

/** Bring a position beyond the map to its edge. */
function toEllipse(position: PlanePosition): PlanePosition {
    const away = ellipseOf(position);
    return away > EDGE ? [(position[0] / away) * EDGE, (position[1] / away) * EDGE] : position;
}

/** Return the first end of a side, and positions along it if it leaves the map, where it becomes a curve. */
function splitOutside(one: PlanePosition, other: PlanePosition): PlanePosition[] {
    if (ellipseOf(one) <= EDGE && ellipseOf(other) <= EDGE) return [one];
    return Array.from({ length: 32 }, (_, k): PlanePosition => middle(one, other, k / 32));
}

const middle = (one: PlanePosition, other: PlanePosition, part = 0.5): PlanePosition => [
    one[0] + (other[0] - one[0]) * part,
    one[1] + (other[1] - one[1]) * part,
];

/** Drop positions that are the same to a tenth of a pixel. */
function dropRepeated(line: readonly PlanePosition[], pixel: number): PlanePosition[] {
    return line.filter((position, k) => {
        const before = line[(k + line.length - 1) % line.length]!;
        return Math.hypot(position[0] - before[0], position[1] - before[1]) > pixel / 10;
    });
}

const directionOf = ([u, v]: PlanePosition, centre: number): Direction => unprojectPosition(u, v, centre)!;

function splitSide(
    one: PlanePosition,
    other: PlanePosition,
    centre: number,
    pixel: number,
    splits: number,
): PlanePosition[] {
    if (splits >= MOST_SPLITS) return [one];
    const wanted = toEllipse(middle(one, other));
    const [from, to] = [one, other].map((end) => directionOf(end, centre));
    const [u, v] = projectDirection(...geoInterpolate([...from!], [...to!])(0.5), centre);
    if (Math.hypot(u - wanted[0], v - wanted[1]) <= pixel / 2) return [one];
    return [
        ...splitSide(one, wanted, centre, pixel, splits + 1),
        ...splitSide(wanted, other, centre, pixel, splits + 1),
    ];
}

/** Area of a closed line in the plane. */
function planeArea(line: readonly PlanePosition[]): number {
    return line.reduce((sum, [u, v], k) => {
        const [nextU, nextV] = line[(k + 1) % line.length]!;
        return sum + (u * nextV - nextU * v) / 2;
    }, 0);
}

function crossesItself(line: readonly PlanePosition[]): boolean {
    const side = (k: number) => [line[k]!, line[(k + 1) % line.length]!] as const;
    const turn = ([a, b]: PlanePosition, [c, d]: PlanePosition, [e, f]: PlanePosition) =>
        Math.sign((c - a) * (f - b) - (d - b) * (e - a));
    for (let j = 0; j < line.length; j++) {
        for (let k = j + 2; k < line.length; k++) {
            if (j === 0 && k === line.length - 1) continue;
            const [[a, b], [c, d]] = [side(j), side(k)];
            if (turn(a, b, c) !== turn(a, b, d) && turn(c, d, a) !== turn(c, d, b)) return true;
        }
    }
    return false;
}

/** Return the decimals of degrees that tell a tenth of a pixel of the plane. */
export const decimalsOf = (pixel: number): number =>
    Math.max(2, Math.min(10, Math.ceil(1 - Math.log10(pixel / DEGREE))));
