/** Paints a plot in space with a pen: the box behind the points, the points as discs, legends. */

import { pixelToCss } from '../../canvas/colourRamps';
import { drawKinds, drawLegend, LEGEND_WIDTH } from '../../canvas/legend';
import type { Pen } from '../../canvas/pen';
import { ticksOf } from '../../canvas/plotAxes';
import { shortNumber } from '../../canvas/axisTicks';
import type { Box } from '../../canvas/plotView';
import { quantityLabel } from '../points/plotSettings';
import type { Field } from '../../model/resultModel';
import { projectionOf, projectPosition, type Projection } from './spaceCamera';
import { coloursOf, discRadii, type SpaceScene } from './spaceScene';

type Corner = [number, number, number];

/** Return the part of the picture that the cube is in: left of the legends, if there are any. */
export function sceneSize({ size, values }: Pick<SpaceScene, 'size' | 'values'>): SpaceScene['size'] {
    const room = values.shades || values.sizes ? LEGEND_WIDTH + 8 : 0;
    return { width: Math.max(60, size.width - room), height: size.height };
}

export const sceneProjection = (scene: SpaceScene): Projection => projectionOf(scene.camera, sceneSize(scene));

/** Paint the ground and the three sides of the box behind the points, with grid lines, numbers and names. */
export function paintSpaceBox(pen: Pen, scene: SpaceScene): void {
    const { size, theme } = scene;
    pen.fill(0, 0, size.width, size.height, theme.ground);
    const by = sceneProjection(scene);
    // the sides away from the camera
    const back = by.front.map((along) => (along > 0 ? -1 : 1)) as Corner;
    for (const axis of [0, 1, 2] as const) paintGridLines(pen, scene, by, axis, back);
    for (const axis of [0, 1, 2] as const) paintAxis(pen, scene, by, axis, labelledEdge(by, axis, back));
}

const others = (axis: 0 | 1 | 2) => [0, 1, 2].filter((k) => k !== axis) as [number, number];

const ticksAlong = ({ values }: SpaceScene, axis: number) => {
    const { range } = values.axes[axis]!;
    return ticksOf(values.axes[axis]!, range[0], range[1], 5)
        .filter(({ label }) => label)
        .map(({ at, label }) => ({ label, at: (2 * (at - range[0])) / (range[1] - range[0]) - 1 }));
};

function strokeLine(pen: Pen, by: Projection, from: Corner, to: Corner, colour: string, width: number): void {
    const [x, y] = projectPosition(by, ...from);
    const [toX, toY] = projectPosition(by, ...to);
    pen.line([x, y, toX, toY], colour, width);
}

function paintGridLines(pen: Pen, scene: SpaceScene, by: Projection, axis: 0 | 1 | 2, back: Corner): void {
    const { theme } = scene;
    const positions = [...ticksAlong(scene, axis).map(({ at }) => at), -1, 1];
    for (const [flat, along] of [others(axis), others(axis).toReversed()]) {
        for (const at of positions) {
            const from: Corner = [...back];
            from[axis] = at;
            from[along!] = -1;
            const to: Corner = [...from];
            to[flat!] = from[flat!]!;
            to[along!] = 1;
            strokeLine(pen, by, from, to, Math.abs(at) === 1 ? theme.quiet : theme.line, Math.abs(at) === 1 ? 1 : 0.6);
        }
    }
}

/** Return the middle of the edge of the outline that an axis is labelled at. */
function labelledEdge(by: Projection, axis: 0 | 1 | 2, back: Corner): Corner {
    const edge: Corner = [...back];
    edge[axis] = 0;
    if (axis < 2) {
        // the near edge of the lower or upper side
        edge[axis === 0 ? 1 : 0] = -back[axis === 0 ? 1 : 0]!;
        return edge;
    }
    const candidates = [0, 1].map((turned): Corner => {
        const corner: Corner = [...edge];
        corner[turned] = -corner[turned]!;
        return corner;
    });
    return candidates.sort((one, other) => projectPosition(by, ...one)[0] - projectPosition(by, ...other)[0])[0]!;
}

function paintAxis(pen: Pen, scene: SpaceScene, by: Projection, axis: 0 | 1 | 2, edge: Corner): void {
    const { theme, values } = scene;
    const [from, to]: [Corner, Corner] = [[...edge], [...edge]];
    [from[axis], to[axis]] = [-1, 1];
    strokeLine(pen, by, from, to, theme.quiet, 1);
    const [start, end] = [projectPosition(by, ...from), projectPosition(by, ...to)];
    const length = Math.hypot(end[0] - start[0], end[1] - start[1]);
    // an axis along the line of sight has no room for numbers
    if (length < 30) return;
    const middle = projectPosition(by, ...edge);
    let out = [-(end[1] - start[1]) / length, (end[0] - start[0]) / length] as const;
    const [towardX, towardY] = projectPosition(by, 0, 0, 0);
    if ((middle[0] - towardX) * out[0] + (middle[1] - towardY) * out[1] < 0) out = [-out[0], -out[1]];
    const align = out[0] > 0.35 ? 'left' : out[0] < -0.35 ? 'right' : 'center';
    const baseline = Math.abs(out[1]) < 0.8 ? 'middle' : out[1] > 0 ? 'top' : 'bottom';
    let widest = 0;
    let taken: readonly [number, number] = [-1e6, -1e6];
    for (const { at, label } of ticksAlong(scene, axis)) {
        const position: Corner = [...edge];
        position[axis] = at;
        const [x, y] = projectPosition(by, ...position);
        pen.line([x, y, x + 5 * out[0], y + 5 * out[1]], theme.quiet);
        const wide = pen.measure(label, 11);
        if (Math.abs(x - taken[0]) < wide + 4 && Math.abs(y - taken[1]) < 13) continue;
        taken = [x, y];
        widest = Math.max(widest, Math.abs(out[0]) * wide);
        pen.text(label, x + 9 * out[0], y + 9 * out[1], { colour: theme.text, align, baseline, size: 11 });
    }
    const away = 28 + widest;
    const style = { colour: theme.text, align, baseline, halo: theme.ground } as const;
    pen.text(values.axes[axis]!.label, middle[0] + away * out[0], middle[1] + away * out[1], style);
}

/** Paint the points as discs from the farthest to the nearest, the chosen ones in their own colour. */
export function paintSpaceDiscs(pen: Pen, scene: SpaceScene, chosen: Uint8Array | undefined): void {
    const { values, theme } = scene;
    const { axes, rows, shades, sizes } = values;
    const by = sceneProjection(scene);
    const scales = axes.map(({ range: [from, to] }) => ({ from, factor: 2 / (to - from) }));
    const [least, most] = discRadii(values);
    const projected = Array.from(rows, (row, k) => {
        const [x, y, z] = axes.map((axis, at) => (axis.values[k]! - scales[at]!.from) * scales[at]!.factor - 1) as Corner; // prettier-ignore
        const [left, top, far] = projectPosition(by, x, y, z);
        const isChosen = chosen?.[row] === 1;
        const radius = (least + ((most - least) * (sizes ? sizes.points[k]! : 0)) / 255) / far;
        return { left, top, far, k, isChosen, radius: isChosen ? Math.max(1.25 * radius, 1.5) : radius };
    }).sort((one, other) => other.far - one.far);
    const colours = Array.from(coloursOf(values, theme), (pixel) => pixelToCss(chosen ? fadePixel(pixel, theme.dark) : pixel)); // prettier-ignore
    const mark = colours.push(theme.warn) - 1;
    const own = (k: number) => (shades ? shades.points[k]! : 0);
    pen.within({ left: 0, top: 0, ...sceneSize(scene) }, () =>
        pen.discs({
            x: Float64Array.from(projected, ({ left }) => left),
            y: Float64Array.from(projected, ({ top }) => top),
            count: projected.length,
            radius: Float64Array.from(projected, ({ radius }) => Math.round(50 * radius) / 50),
            colours,
            shades: Uint16Array.from(projected, ({ k, isChosen }) => (isChosen ? mark : own(k))),
        }),
    );
}

/** Return a colour for points while others are chosen: near the ground. */
function fadePixel(pixel: number, dark: boolean): number {
    const ground = dark ? 20 : 255;
    const part = (shift: number) => Math.round(ground + (((pixel >> shift) & 255) - ground) * 0.35) << shift;
    return part(0) | part(8) | part(16);
}

/** Lower pictures have no legend of sizes (CSS pixels). */
const ROOMY = 240;

/** Paint the legends of colours and sizes on the right, and the note. */
export function paintSpaceLegends(pen: Pen, scene: SpaceScene, fields: readonly Field[]): void {
    const { values, theme, size, note } = scene;
    const style = { colour: theme.warn, baseline: 'top', halo: theme.ground } as const;
    if (note) pen.text(note, 8, 8, style);
    const { shades, sizes, settings } = values;
    const left = sceneSize(scene).width + 4;
    const room = sizes && size.height > ROOMY ? 110 : 0;
    const box: Box = { left, top: 12, width: LEGEND_WIDTH, height: Math.max(40, size.height - 40 - room) };
    if (shades?.type === 'kinds') drawKinds(pen, box, shades, theme);
    else if (shades) {
        const label = quantityLabel(fields, { column: settings.colour, minus: -1 });
        drawLegend(pen, box, { label, range: shades.range, log: false, ramp: theme.ramp }, theme);
    }
    if (!sizes || !room) return;
    const [least, most] = discRadii(values);
    pen.text(sizes.label, left, size.height - room + 4, { colour: theme.text, size: 11 });
    [0, 0.5, 1].forEach((part, k) => {
        const y = size.height - room + 26 + 26 * k;
        const radius = Math.min(10, least + (most - least) * part);
        pen.discs({ x: [left + 11], y: [y], count: 1, radius, colours: [theme.quiet] });
        const value = sizes.range[0] + (sizes.range[1] - sizes.range[0]) * part;
        pen.text(shortNumber(Number(value.toPrecision(3))), left + 26, y, { colour: theme.text, size: 11 });
    });
}
