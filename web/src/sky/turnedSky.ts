/**
 * A view of the sky that is turned so that its middle is any direction, in the Hammer-Aitoff projection: equal-area, and nearly
 * undistorted around the middle at every scale, so one projection serves from the whole sky to arcseconds.
 */

import type { GeoProjection } from 'd3-geo';
import { DEGREE, normalizeAngle, toDirection, toVector, type Direction, type Vector } from './directions';
import { projectTurned } from './hammerAitoff';
import { frameConversion, frameRotation, type Frame } from './skyFrames';
import { screenProjection } from './skyLines';

export interface SkyView {
    readonly frame: Frame;
    /** the middle in the frame, degrees */
    readonly centre: Direction;
    /** degrees between pixels, in the middle */
    readonly degrees: number;
    /** CSS pixels */
    readonly width: number;
    readonly height: number;
}

/** Degrees in a unit of the projection's plane, in its middle. */
const UNIT = (180 / Math.PI) * Math.SQRT2;

export class TurnedSky {
    /** nine numbers, by rows: ICRS to the view's axes (middle, left, up) */
    readonly rotation: Float64Array;
    /** pixels in a unit of the plane */
    readonly scale: number;
    readonly #position = new Float64Array(2);

    constructor(readonly view: SkyView) {
        const [longitude, latitude] = view.centre;
        const turned = frameRotation('equatorial', view.frame, longitude);
        const [cosine, sine] = [Math.cos(latitude * DEGREE), Math.sin(latitude * DEGREE)];
        this.rotation = Float64Array.from({ length: 9 }, (_, k) => {
            const [row, column] = [Math.floor(k / 3), k % 3];
            if (row === 1) return turned[k]!;
            const [x, z] = [turned[column]!, turned[6 + column]!];
            return row === 0 ? cosine * x + sine * z : -sine * x + cosine * z;
        });
        this.scale = UNIT / view.degrees;
    }

    /** Return the projection of directions in the view's frame to the screen, for lines. */
    toProjection(): GeoProjection {
        const { centre, width, height } = this.view;
        const screen = { left: 0, top: 0, width, height };
        return screenProjection(centre, this.scale, [width / 2, height / 2], screen);
    }

    /** Return the position of a unit vector (ICRS) on the screen, and whether it is on the near half of the sky. */
    positionOfVector([a, b, c]: Vector): readonly [x: number, y: number, near: boolean] {
        projectTurned(this.rotation, a, b, c, this.#position);
        const near = this.rotation[0]! * a + this.rotation[1]! * b + this.rotation[2]! * c > 0;
        const { width, height } = this.view;
        return [width / 2 + this.#position[0]! * this.scale, height / 2 - this.#position[1]! * this.scale, near];
    }

    /** Return the position of a direction (ICRS, degrees). */
    positionOf(ra: number, dec: number): readonly [x: number, y: number, near: boolean] {
        return this.positionOfVector(toVector(ra, dec));
    }

    /** Return the position of a direction in the view's frame. */
    positionInFrame(longitude: number, latitude: number): readonly [x: number, y: number, near: boolean] {
        return this.positionOf(...frameConversion(this.view.frame, 'equatorial')(longitude, latitude));
    }

    /** Write the unit vector (ICRS) of a position on the screen to `vector`; return false off the sky. */
    vectorAt(x: number, y: number, vector: Float64Array): boolean {
        const { width, height } = this.view;
        const [u, v] = [(x - width / 2) / this.scale, (height / 2 - y) / this.scale];
        if (!((u * u) / 4 + v * v <= 1)) return false;
        // Calabretta & Greisen 2002, section 5.3.4, without angles
        const square = 1 - (u * u) / 8 - (v * v) / 2;
        const root = Math.sqrt(square);
        const [sine, cosine] = [(-root * u) / Math.SQRT2, 2 * square - 1];
        const length = Math.hypot(sine, cosine);
        const [half, other] = length > 0 ? [cosine / length, sine / length] : [1, 0];
        const up = Math.max(-1, Math.min(1, Math.SQRT2 * root * v));
        const across = Math.sqrt(1 - up * up);
        const [a, b] = [across * (half * half - other * other), across * 2 * half * other];
        const turned = this.rotation;
        vector[0] = turned[0]! * a + turned[3]! * b + turned[6]! * up;
        vector[1] = turned[1]! * a + turned[4]! * b + turned[7]! * up;
        vector[2] = turned[2]! * a + turned[5]! * b + turned[8]! * up;
        return true;
    }

    /** Return the direction (ICRS, degrees) at a position on the screen; undefined off the sky. */
    directionAt(x: number, y: number): Direction | undefined {
        const vector = new Float64Array(3);
        return this.vectorAt(x, y, vector) ? toDirection([vector[0]!, vector[1]!, vector[2]!]) : undefined;
    }
}

/** Degrees in a pixel where the whole sky fills the screen. */
export const wholeSkyDegrees = (width: number, height: number): number => UNIT / Math.min(width / 4.08, height / 2.08);

/** Return the view after a drag by pixels. Longitudes turn faster near the poles. */
export function dragView(view: SkyView, dx: number, dy: number): SkyView {
    const [longitude, latitude] = view.centre;
    const stretch = Math.max(0.05, Math.cos(latitude * DEGREE));
    const degrees = Math.min(view.degrees, 0.6);
    return {
        ...view,
        centre: [
            normalizeAngle(longitude + (dx * degrees) / stretch),
            Math.max(-90, Math.min(90, latitude + dy * degrees)),
        ],
    };
}

/** The finest scale, degrees in a pixel: a tenth of an arcsecond. */
const FINEST = 0.1 / 3600;

/** Return the view scaled around a position on the screen, which keeps its direction as nearly as north stays up. */
export function zoomView(view: SkyView, factor: number, x: number, y: number): SkyView {
    const whole = wholeSkyDegrees(view.width, view.height);
    const degrees = Math.max(FINEST, Math.min(whole, view.degrees * factor));
    const next = { ...view, degrees };
    if (degrees >= whole) return next;
    const before = new TurnedSky(view).directionAt(x, y);
    const after = new TurnedSky(next).directionAt(x, y);
    if (!before || !after) return next;
    const toFrame = frameConversion('equatorial', view.frame);
    const [[l0, b0], [l1, b1]] = [toFrame(...before), toFrame(...after)];
    const turn = normalizeAngle(l0 - l1 + 180) - 180;
    const latitude = Math.max(-90, Math.min(90, view.centre[1] + b0 - b1));
    return { ...next, centre: [normalizeAngle(view.centre[0] + turn), latitude] };
}

/** Return the view in another frame, with the same middle. */
export function changeFrame(view: SkyView, frame: Frame): SkyView {
    return { ...view, frame, centre: frameConversion(view.frame, frame)(...view.centre) };
}
