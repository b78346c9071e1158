/**
 * The camera of a plot in space. The axes span the cube from -1 to 1, with z upwards; the camera looks at its middle from a
 * fixed distance and magnifies, so that nothing comes behind it.
 */

import type { Size } from '../points/plotLayout';
import { FIRST_CAMERA, type Camera } from '../table/camera';

/** Distance of the camera; the corners of the cube are at the square root of 3. */
const DISTANCE = 5;
/** The smaller side of the picture, without its margin, shows this much at the middle's distance. */
const SPAN = 3.3;
/** Room for numbers and names, in CSS pixels. */
const MARGIN = 70;
const DEGREE = Math.PI / 180;
/** Degrees for a drag of a pixel. */
const TURN = 0.4;

/** Turn by a drag, in CSS pixels. */
export function turnCamera(camera: Camera, dx: number, dy: number): Camera {
    const longitude = camera.longitude - dx * TURN;
    return {
        ...camera,
        longitude: ((((longitude + 180) % 360) + 360) % 360) - 180,
        latitude: Math.max(-90, Math.min(90, camera.latitude + dy * TURN)),
    };
}

/** Shift the picture by a drag, in CSS pixels. */
export function shiftCamera(camera: Camera, dx: number, dy: number, { width, height }: Size): Camera {
    const side = Math.min(width, height);
    return { ...camera, across: camera.across + dx / side, down: camera.down + dy / side };
}

/** Magnify by a factor around a position of the picture, in CSS pixels. */
export function zoomCamera(camera: Camera, factor: number, size: Size, at?: readonly [number, number]): Camera {
    const zoom = Math.max(0.2, Math.min(200, camera.zoom * factor));
    const side = Math.min(size.width, size.height);
    const [x, y] = at ?? [size.width / 2, size.height / 2];
    const grown = zoom / camera.zoom;
    const [dx, dy] = [(x - size.width / 2) / side, (y - size.height / 2) / side];
    return {
        ...camera,
        zoom,
        across: dx + (camera.across - dx) * grown,
        down: dy + (camera.down - dy) * grown,
    };
}

/** Return the camera after a key; 'first' for the first one; undefined if the key does nothing. */
export function cameraAfterKey(key: string, camera: Camera, size: Size, shifted: boolean): Camera | undefined {
    const arrow = ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] } as const)[key];
    if (arrow) {
        const [dx, dy] = [arrow[0] * 25, arrow[1] * 25];
        return shifted ? shiftCamera(camera, dx, dy, size) : turnCamera(camera, dx, dy);
    }
    if (key === '+' || key === '=') return zoomCamera(camera, 1.25, size);
    if (key === '-' || key === '_') return zoomCamera(camera, 0.8, size);
    return key === '0' ? FIRST_CAMERA : undefined;
}

/** How positions of the cube come to the picture. */
export interface Projection {
    /** unit vectors to the right, up and to the camera */
    readonly right: readonly [number, number, number];
    readonly up: readonly [number, number, number];
    readonly front: readonly [number, number, number];
    /** CSS pixels of a unit at the distance of the middle */
    readonly scale: number;
    /** position of the middle, in CSS pixels */
    readonly x: number;
    readonly y: number;
    readonly size: Size;
}

export function projectionOf(camera: Camera, size: Size): Projection {
    const [l, b] = [camera.longitude * DEGREE, camera.latitude * DEGREE];
    const [cosL, sinL, cosB, sinB] = [Math.cos(l), Math.sin(l), Math.cos(b), Math.sin(b)];
    const side = Math.min(size.width, size.height);
    return {
        right: [-sinL, cosL, 0],
        up: [-sinB * cosL, -sinB * sinL, cosB],
        front: [cosB * cosL, cosB * sinL, sinB],
        scale: (Math.max(0.6 * side, side - MARGIN) / SPAN) * camera.zoom,
        x: size.width / 2 + camera.across * side,
        y: size.height / 2 + camera.down * side,
        size,
    };
}

type Vector = readonly [number, number, number];
const dot = (one: Vector, x: number, y: number, z: number) => one[0] * x + one[1] * y + one[2] * z;

/** Return the position of a point in CSS pixels, and its distance from the camera, 1 at the middle. */
export function projectPosition(by: Projection, x: number, y: number, z: number): [x: number, y: number, far: number] {
    const far = 1 - dot(by.front, x, y, z) / DISTANCE;
    return [by.x + (by.scale * dot(by.right, x, y, z)) / far, by.y - (by.scale * dot(by.up, x, y, z)) / far, far];
}

/** Return the matrix for WebGL (by columns): cube to clip coordinates, whose w is the distance. */
export function clipMatrix(by: Projection): Float32Array {
    const { right, up, front, scale, x, y, size } = by;
    const [across, above] = [(2 * scale) / size.width, (2 * scale) / size.height];
    const [shift, lift] = [(2 * x) / size.width - 1, 1 - (2 * y) / size.height];
    const column = (k: 0 | 1 | 2) => [
        across * right[k] - (shift * front[k]) / DISTANCE,
        above * up[k] - (lift * front[k]) / DISTANCE,
        // the nearest positions, at 2, come to -1 and the farthest to 1
        -0.5 * front[k],
        -front[k] / DISTANCE,
    ];
    return Float32Array.from([...column(0), ...column(1), ...column(2), shift, lift, 0.4, 1]);
}
