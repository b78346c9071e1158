/** The visible part of the plane, and its position on the screen. Values are scaled (logarithm, projection) before. */

/** u0 is on the left and v0 at the bottom; u0 > u1 means a reversed axis. */
export interface View {
    readonly u0: number;
    readonly u1: number;
    readonly v0: number;
    readonly v1: number;
}

/** A position in the plane, or on the screen in CSS pixels. */
export type PlanePosition = readonly [u: number, v: number];

/** A rectangle in CSS pixels. */
export interface Box {
    readonly left: number;
    readonly top: number;
    readonly width: number;
    readonly height: number;
}

/** Return the screen position of a value. */
export const xOnScreen = (view: View, box: Box, u: number) =>
    box.left + ((u - view.u0) / (view.u1 - view.u0)) * box.width;
export const yOnScreen = (view: View, box: Box, v: number) =>
    box.top + box.height - ((v - view.v0) / (view.v1 - view.v0)) * box.height;

/** Return the value at a screen position. */
export const uAt = (view: View, box: Box, x: number) => view.u0 + ((x - box.left) / box.width) * (view.u1 - view.u0);
export const vAt = (view: View, box: Box, y: number) =>
    view.v0 + ((box.top + box.height - y) / box.height) * (view.v1 - view.v0);

/** Move the view by pixels. */
export function moveView(view: View, box: Box, dx: number, dy: number): View {
    const du = (dx / box.width) * (view.u1 - view.u0);
    const dv = (dy / box.height) * (view.v1 - view.v0);
    return { u0: view.u0 - du, u1: view.u1 - du, v0: view.v0 + dv, v1: view.v1 + dv };
}

/** Smallest span relative to the values: finer ones are lost in double precision. */
const FINEST = 1e-12;

/**
 * Scale the view by `factor` around (x, y) along the given axes. A view too fine for double precision stays unchanged.
 */
export function zoomView(
    view: View,
    box: Box,
    factor: number,
    x: number,
    y: number,
    along: { u: boolean; v: boolean } = { u: true, v: true },
): View {
    const [u, v] = [uAt(view, box, x), vAt(view, box, y)];
    const next = {
        u0: along.u ? u + (view.u0 - u) * factor : view.u0,
        u1: along.u ? u + (view.u1 - u) * factor : view.u1,
        v0: along.v ? v + (view.v0 - v) * factor : view.v0,
        v1: along.v ? v + (view.v1 - v) * factor : view.v1,
    };
    return isSoundRange(next.u0, next.u1) && isSoundRange(next.v0, next.v1) ? next : view;
}

function isSoundRange(from: number, to: number): boolean {
    const span = Math.abs(to - from);
    return Number.isFinite(span) && span > FINEST * Math.max(Math.abs(from), Math.abs(to)) && span > 1e-300;
}

/** Return the view between two screen positions, reversed as before. */
export function viewBetween(
    view: View,
    box: Box,
    from: readonly [number, number],
    to: readonly [number, number],
): View {
    const [left, right] = [Math.min(from[0], to[0]), Math.max(from[0], to[0])];
    const [top, bottom] = [Math.min(from[1], to[1]), Math.max(from[1], to[1])];
    const next = {
        u0: uAt(view, box, left),
        u1: uAt(view, box, right),
        v0: vAt(view, box, bottom),
        v1: vAt(view, box, top),
    };
    return isSoundRange(next.u0, next.u1) && isSoundRange(next.v0, next.v1) ? next : view;
}

/** Widen the view so that both axes have the same scale, as maps need. */
export function equalizeScales(view: View, box: Box): View {
    const [du, dv] = [view.u1 - view.u0, view.v1 - view.v0];
    const [across, up] = [Math.abs(du) / box.width, Math.abs(dv) / box.height];
    const scale = Math.max(across, up);
    const [u, v] = [(view.u0 + view.u1) / 2, (view.v0 + view.v1) / 2];
    const [halfU, halfV] = [(Math.sign(du) * scale * box.width) / 2, (Math.sign(dv) * scale * box.height) / 2];
    return { u0: u - halfU, u1: u + halfU, v0: v - halfV, v1: v + halfV };
}

/** Round a scaled value to as few digits as the screen resolves; `pixel` is the scaled size of a pixel. */
export function roundToPixel(value: number, pixel: number, log: boolean): number {
    const [plain, neighbour] = log ? [10 ** value, 10 ** (value + Math.abs(pixel))] : [value, value + Math.abs(pixel)];
    const digits = -Math.floor(Math.log10(Math.abs(neighbour - plain)));
    if (!Number.isFinite(digits) || Math.abs(digits) > 100) return value;
    const short =
        digits >= 0 ? Number(plain.toFixed(Math.min(digits, 100))) : Math.round(plain * 10 ** digits) / 10 ** digits;
    return log ? (short > 0 ? Math.log10(short) : value) : short;
}
