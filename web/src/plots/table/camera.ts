/** Where a plot in space is seen from. */

export interface Camera {
    /** direction from the middle to the camera, degrees */
    readonly longitude: number;
    readonly latitude: number;
    readonly zoom: number;
    /** shift of the picture, in shares of its smaller side */
    readonly across: number;
    readonly down: number;
}

export const FIRST_CAMERA: Camera = { longitude: -60, latitude: 24, zoom: 1, across: 0, down: 0 };
