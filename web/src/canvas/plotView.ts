/** What part of the plane a plot shows, and where on the screen: values are scaled (log taken, projected) before. */

/** u0 is at the left and v0 at the bottom; an axis is reversed where u0 > u1. */
export interface View {
    readonly u0: number;
    readonly u1: number;
    readonly v0: number;
    readonly v1: number;
}

/** A rectangle of the picture, in CSS pixels. */
export interface Box {
    readonly left: number;
    readonly top: number;
    readonly width: number;
    readonly height: number;
}

/** Where a value is on the screen. */
export const xOnScreen = (view: View, box: Box, u: number) =>
    box.left + ((u - view.u0) / (view.u1 - view.u0)) * box.width;
export const yOnScreen = (view: View, box: Box, v: number) =>
    box.top + box.height - ((v - view.v0) / (view.v1 - view.v0)) * box.height;

/** Which value is at a place of the screen. */
export const uAt = (view: View, box: Box, x: number) => view.u0 + ((x - box.left) / box.width) * (view.u1 - view.u0);
export const vAt = (view: View, box: Box, y: number) =>
    view.v0 + ((box.top + box.height - y) / box.height) * (view.v1 - view.v0);

/** The view moved by pixels, as if it were pushed. */
export function moveView(view: View, box: Box, dx: number, dy: number): View {
    const du = (dx / box.width) * (view.u1 - view.u0);
    const dv = (dy / box.height) * (view.v1 - view.v0);
    return { u0: view.u0 - du, u1: view.u1 - du, v0: view.v0 + dv, v1: view.v1 + dv };
}

/** Between which sizes a view may be, so that numbers keep their places: a millionth of a millionth of what is looked at. */
const FINEST = 1e-12;

/**
 * The view with `factor` times as much in it, where what is at (x, y) stays. `along` says which axes are changed.
 * A view too fine to be told apart in doubles stays as it is.
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

/** The view between two places of the screen, turned as it was. */
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

/** The view widened so that a step across is as long on the screen as a step up: maps need it. */
export function equalizeScales(view: View, box: Box): View {
    const [du, dv] = [view.u1 - view.u0, view.v1 - view.v0];
    const [across, up] = [Math.abs(du) / box.width, Math.abs(dv) / box.height];
    const scale = Math.max(across, up);
    const [u, v] = [(view.u0 + view.u1) / 2, (view.v0 + view.v1) / 2];
    const [halfU, halfV] = [(Math.sign(du) * scale * box.width) / 2, (Math.sign(dv) * scale * box.height) / 2];
    return { u0: u - halfU, u1: u + halfU, v0: v - halfV, v1: v + halfV };
}

/** A scaled value as short as the screen can tell it from its neighbours: `pixel` is what one pixel is, scaled. */
export function roundToPixel(value: number, pixel: number, log: boolean): number {
    const [plain, beside] = log ? [10 ** value, 10 ** (value + Math.abs(pixel))] : [value, value + Math.abs(pixel)];
    const digits = -Math.floor(Math.log10(Math.abs(beside - plain)));
    if (!Number.isFinite(digits) || Math.abs(digits) > 100) return value;
    const short =
        digits >= 0 ? Number(plain.toFixed(Math.min(digits, 100))) : Math.round(plain * 10 ** digits) / 10 ** digits;
    return log ? (short > 0 ? Math.log10(short) : value) : short;
}
