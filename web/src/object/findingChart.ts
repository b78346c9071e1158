/** Draws neighbours on the plane that touches the sky at the middle, east to the left. */

import { kindColours, pixelToCss } from '../canvas/colourRamps';
import type { Theme } from '../canvas/canvasTheme';
import { niceStep } from '../canvas/roundSteps';
import type { Pen } from '../canvas/pen';
import { objectTexts } from '../text/objectTexts';
import type { Neighbour } from './objectMatches.svelte';
import { projectTangent } from './tangentPlane';

export interface FindingChart {
    readonly centre: readonly [number, number];
    /** half of the chart's width, degrees */
    readonly radius: number;
    readonly neighbours: readonly Neighbour[];
    readonly tables: readonly string[];
    /** years that arrows of proper motion span */
    readonly years: number;
    readonly hovered: Neighbour | undefined;
}

type Size = { readonly width: number; readonly height: number };

/** Sizes of the marks, CSS pixels. */
const [SMALLEST, LARGEST] = [3, 13];

/** Return the position of a neighbour on the screen; undefined if it is on the other half of the sky. */
export function positionOnChart(
    { centre, radius }: Pick<FindingChart, 'centre' | 'radius'>,
    { ra, dec }: { readonly ra: number; readonly dec: number },
    { width, height }: Size,
): readonly [number, number] | undefined {
    const position = projectTangent(centre, ra, dec);
    if (!position) return undefined;
    const scale = Math.min(width, height) / 2 / radius;
    return [width / 2 - position[0] * scale, height / 2 - position[1] * scale];
}

/** Return the diameter of a neighbour's mark: one magnitude brighter, one step larger. */
function markSize(magnitude: number, brightest: number): number {
    if (!Number.isFinite(magnitude)) return SMALLEST + 2;
    return Math.max(SMALLEST, LARGEST - 1.3 * (magnitude - brightest));
}

export function paintFindingChart(pen: Pen, size: Size, chart: FindingChart, theme: Theme): void {
    const [x0, y0] = [size.width / 2, size.height / 2];
    pen.line([x0 - 14, y0, x0 - 5, y0], theme.warn, 1.5);
    pen.line([x0, y0 - 14, x0, y0 - 5], theme.warn, 1.5);
    const colours = [...kindColours(theme.dark)].map(pixelToCss);
    const brightest = Math.min(...chart.neighbours.map(({ magnitude }) => magnitude).filter(Number.isFinite));
    for (const neighbour of chart.neighbours) {
        const position = positionOnChart(chart, neighbour, size);
        if (!position) continue;
        const colour = colours[chart.tables.indexOf(neighbour.table) % colours.length]!;
        const wide = markSize(neighbour.magnitude, brightest);
        drawDisc(pen, position, wide / 2, colour);
        if (neighbour === chart.hovered) drawCircle(pen, position, wide / 2 + 4, theme.text);
        if (neighbour.motion) drawMotion(pen, position, neighbour.motion, chart, size, theme);
    }
    drawCompass(pen, size, theme);
    drawScale(pen, chart.radius, size, theme);
}

function drawDisc(pen: Pen, [x, y]: readonly [number, number], radius: number, colour: string): void {
    for (let row = -radius; row <= radius; row += 0.5) {
        const half = Math.sqrt(Math.max(0, radius * radius - row * row));
        pen.fill(x - half, y + row, 2 * half, 0.6, colour);
    }
}

function drawCircle(pen: Pen, [x, y]: readonly [number, number], radius: number, colour: string): void {
    const points = Array.from({ length: 33 }, (_, k) => (k / 16) * Math.PI).flatMap((angle) => [
        x + radius * Math.cos(angle),
        y + radius * Math.sin(angle),
    ]);
    pen.line(points, colour, 1.5);
}

const MAS_PER_DEGREE = 3_600_000;

function drawMotion(
    pen: Pen,
    [x, y]: readonly [number, number],
    [east, north]: readonly [number, number],
    { radius, years }: FindingChart,
    { width, height }: Size,
    theme: Theme,
): void {
    const scale = (Math.min(width, height) / 2 / radius / MAS_PER_DEGREE) * years;
    const [dx, dy] = [-east * scale, -north * scale];
    const length = Math.hypot(dx, dy);
    if (length < 2) return;
    const [tipX, tipY, ux, uy] = [x + dx, y + dy, dx / length, dy / length];
    pen.line([x, y, tipX, tipY], theme.text, 1);
    pen.line(
        [tipX - 5 * ux + 3 * uy, tipY - 5 * uy - 3 * ux, tipX, tipY, tipX - 5 * ux - 3 * uy, tipY - 5 * uy + 3 * ux],
        theme.text,
        1,
    );
}

function drawCompass(pen: Pen, { width }: Size, theme: Theme): void {
    const [x, y, arm] = [width - 22, 44, 24];
    pen.line([x, y - arm, x, y, x - arm, y], theme.quiet, 1.2);
    pen.text(objectTexts.north, x, y - arm - 8, { colour: theme.text, align: 'center' });
    pen.text(objectTexts.east, x - arm - 8, y, { colour: theme.text, align: 'center' });
}

function drawScale(pen: Pen, radius: number, { width, height }: Size, theme: Theme): void {
    const unit = [1, 60, 3600].find((each) => (2 * radius * each) / 4 >= 1) ?? 3600;
    const degrees = niceStep(2 * radius * unit, 4) / unit;
    const long = (degrees / radius) * (Math.min(width, height) / 2);
    const y = height - 16;
    pen.line([14, y - 4, 14, y, 14 + long, y, 14 + long, y - 4], theme.text, 1.2);
    pen.text(objectTexts.angle(degrees), 14 + long / 2, y - 10, { colour: theme.text, align: 'center' });
}
