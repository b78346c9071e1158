/** The graticule over the visible part of a map of the sky, with labels. */

import type { Pen } from '../canvas/pen';
import { uAt, vAt, xOnScreen, yOnScreen, type Box, type View } from '../canvas/plotView';
import { normalizeAngle } from './directions';
import { graticuleLines, strokeGeometry, viewProjection } from './skyLines';
import { projectDirection, unprojectPosition } from './hammerAitoff';

const STEPS = [60, 30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];
const WIDTH = 0.8;
/** Least distance between lines, in CSS pixels. */
const APART = 36;

export interface Ink {
    readonly line: string;
    readonly text: string;
    readonly ground: string;
}

/** Return the distance between lines, in degrees. */
export function stepFor(view: View, box: Box): number {
    const degree = box.width / (Math.min(Math.abs(view.u1 - view.u0), 4) * 90);
    return STEPS.findLast((step) => step * degree >= APART) ?? STEPS[0]!;
}

/** Draw the outline of the sky and the lines in the view. `centre` is the longitude in the middle. */
export function drawLines(pen: Pen, view: View, box: Box, centre: number, ink: Ink): void {
    const step = stepFor(view, box);
    const projection = viewProjection(view, box, centre);
    const [longitudes, latitudes] = linesInView(view, step, centre);
    const [west, east] = [longitudes[0] ?? 0, longitudes.at(-1) ?? 0];
    const [south, north] = [latitudes[0] ?? 0, latitudes.at(-1) ?? 0];
    // an area that is cut at the box would have the edges of the box as its outline
    const whole = viewProjection(view, box, centre).clipExtent(null);
    if (!isWithinSky(view)) pen.within(box, () => strokeGeometry(pen, whole, { type: 'Sphere' }, ink.line, WIDTH));
    const lines = graticuleLines(
        longitudes.map((away) => centre + away),
        latitudes,
        {
            west: centre + Math.max(-180, west - step),
            east: centre + Math.min(180, east + step),
            south: Math.max(-90, south - step),
            north: Math.min(90, north + step),
        },
    );
    strokeGeometry(pen, projection, lines, ink.line, WIDTH);
}

function isInView(u: number, v: number, view: View): boolean {
    const [u0, u1] = [Math.min(view.u0, view.u1), Math.max(view.u0, view.u1)];
    const [v0, v1] = [Math.min(view.v0, view.v1), Math.max(view.v0, view.v1)];
    const [du, dv] = [(u1 - u0) * 0.02, (v1 - v0) * 0.02];
    return u >= u0 - du && u <= u1 + du && v >= v0 - dv && v <= v1 + dv;
}

/** Return the longitudes (relative to the middle) and latitudes of lines that may cross a view, in degrees. */
function linesInView(view: View, step: number, centre: number): [number[], number[]] {
    let [west, east, south, north] = [180, -180, 90, -90];
    const take = (u: number, v: number) => {
        const at = unprojectPosition(u, v);
        if (!at) return;
        const away = normalizeAngle(at[0] + 180) - 180;
        [west, east] = [Math.min(west, away), Math.max(east, away)];
        [south, north] = [Math.min(south, at[1]), Math.max(north, at[1])];
    };
    for (let i = 0; i <= 24; i++) {
        for (let j = 0; j <= 24; j++) {
            take(view.u0 + ((view.u1 - view.u0) * i) / 24, view.v0 + ((view.v1 - view.v0) * j) / 24);
        }
    }
    if (west > east) return [[], []];
    const shift = centre - step * Math.floor(centre / step);
    const longitudes = multiplesFrom(west - step, east + step, step, -shift).filter((value) => Math.abs(value) < 180);
    return [longitudes, multiplesFrom(south - step, north + step, step, 0).filter((value) => Math.abs(value) < 90)];
}

function multiplesFrom(from: number, to: number, step: number, shift: number): number[] {
    const first = Math.ceil((from - shift) / step);
    const count = Math.max(0, Math.min(400, Math.floor((to - shift) / step) - first + 1));
    return Array.from({ length: count }, (_, k) => (first + k) * step + shift);
}

/**
 * Label the lines: along the edges if the view is inside the sky, else along the parallel and the meridian nearest to
 * its middle.
 */
export function drawLabels(pen: Pen, view: View, box: Box, centre: number, ink: Ink): void {
    const step = stepFor(view, box);
    const [longitudes, latitudes] = linesInView(view, step, centre);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const edges = isWithinSky(view);
    const middle = unprojectPosition((view.u0 + view.u1) / 2, (view.v0 + view.v1) / 2) ?? [0, 0];
    const below = unprojectPosition((view.u0 + view.u1) / 2, view.v0 + (view.v1 - view.v0) * 0.03) ?? middle;
    const atLeft = unprojectPosition(view.u0 + (view.u1 - view.u0) * 0.02, (view.v0 + view.v1) / 2) ?? middle;
    const parallel = edges ? below[1] : nearestValue(latitudes, middle[1]);
    const meridian = awayFromMiddle(
        edges ? atLeft[0] : (nearestValue(longitudes, awayFromMiddle(middle[0])) + 360) % 360,
    );
    const style = { colour: ink.text, halo: ink.ground, align: 'center', size: 11 } as const;
    let taken = Infinity;
    for (const longitude of longitudes) {
        const [u, v] = projectDirection(longitude, parallel);
        const x = xOnScreen(view, box, u);
        const label = `${normalizeAngle(longitude + centre).toFixed(digits)}°`;
        const half = pen.measure(label, 11) / 2;
        if (x - half < box.left || x + half > Math.min(box.left + box.width, taken - 6) || !isInView(u, v, view))
            continue;
        taken = x - half;
        pen.text(label, x, edges ? box.top + box.height - 8 : yOnScreen(view, box, v) + 8, style);
    }
    for (const latitude of latitudes) {
        if (!edges && latitude === parallel) continue;
        const [u, v] = projectDirection(meridian, latitude);
        const y = yOnScreen(view, box, v);
        if (!isInView(u, v, view) || y < box.top + 6 || y > box.top + box.height - (edges ? 20 : 6)) continue;
        const sign = latitude > 0 ? '+' : latitude < 0 ? '−' : '';
        const label = `${sign}${Math.abs(latitude).toFixed(digits)}°`;
        if (edges) pen.text(label, box.left + 3, y, { ...style, align: 'left' });
        else pen.text(label, xOnScreen(view, box, u) + 2, y, style);
    }
}

/** Return a longitude relative to the middle, -180 to 180. */
const awayFromMiddle = (longitude: number) => normalizeAngle(longitude + 180) - 180;

/** Whether all corners of a view are in the sky. */
function isWithinSky(view: View): boolean {
    return [view.u0, view.u1].every((u) => [view.v0, view.v1].every((v) => unprojectPosition(u, v) !== undefined));
}

function nearestValue(values: readonly number[], to: number): number {
    return values.reduce((best, value) => (Math.abs(value - to) < Math.abs(best - to) ? value : best), values[0] ?? 0);
}

/** Return the direction at a position on the screen, in degrees; undefined outside the sky. */
export function directionAt(view: View, box: Box, x: number, y: number, centre: number) {
    return unprojectPosition(uAt(view, box, x), vAt(view, box, y), centre);
}
