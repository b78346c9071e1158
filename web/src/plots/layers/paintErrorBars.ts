/** Paints error bars: lines for few, pixels for many. */

import { cssToPixel, mixColours, pixelToCss } from '../../canvas/colourRamps';
import type { Pen } from '../../canvas/pen';
import { drawPixels } from '../../canvas/pixelCanvas';
import { xOnScreen, yOnScreen } from '../../canvas/plotView';
import { errorBarPixels } from './errorBarPixels';
import type { AxisErrors } from '../points/plotData';
import { barEnds } from './errorBarEnds';
import { rasterOf } from '../points/paintPoints';
import { MAX_SHAPES } from '../points/plotPicture';
import type { Scene } from '../points/plotScene';
import { countIn } from '../points/scatterPixels';

/** Most points whose bars are lines with caps. */
const MAX_LINES = 2500;
/** Half a cap, in CSS pixels. */
const CAP = 2.5;
/** The part of the ground in the colour of bars, also next to chosen points. */
const PALE = { usual: 0.45, faint: 0.8 };

/** Paint the error bars of all points, paler than the points. */
export function paintErrorBars(pen: Pen, scene: Scene, faint: boolean): void {
    const { data, box, view } = scene;
    const { xErrors, yErrors } = data.layers;
    if (!xErrors && !yErrors) return;
    pen.within(box, () => {
        if (countIn(data.points, view) > (pen.isVector ? MAX_SHAPES : MAX_LINES))
            pen.image(pictureOf(scene), box.left, box.top, box.width, box.height, faint ? 0.35 : 1);
        else drawBars(pen, scene, faint ? PALE.faint : PALE.usual);
    });
}

function drawBars(pen: Pen, scene: Scene, pale: number): void {
    const { data, view, box } = scene;
    const { points, shades, layers } = data;
    const colours = coloursOf(scene).map((colour) => mixColours(colour, cssToPixel(scene.theme.ground), pale));
    const css = Array.from(colours, pixelToCss);
    const ends = (value: number, row: number, errors: AxisErrors, screen: (end: number) => number) =>
        barEnds(value, row, errors).map(screen) as [number, number];
    for (let k = 0; k < points.count; k++) {
        const [u, v, row] = [points.u[k]!, points.v[k]!, points.rows[k]!];
        const [x, y] = [xOnScreen(view, box, u), yOnScreen(view, box, v)];
        const colour = css[shades ? shades.points[k]! : 0]!;
        if (layers.xErrors && y >= box.top && y <= box.top + box.height)
            drawBar(
                pen,
                ends(u, row, layers.xErrors, (end) => xOnScreen(view, box, end)),
                y,
                colour,
                true,
                box,
            );
        if (layers.yErrors && x >= box.left && x <= box.left + box.width)
            drawBar(
                pen,
                ends(v, row, layers.yErrors, (end) => yOnScreen(view, box, end)),
                x,
                colour,
                false,
                box,
            );
    }
}

type Ends = readonly [number, number];

/** Draw a bar with caps as one line. */
function drawBar(pen: Pen, ends: Ends, at: number, colour: string, across: boolean, box: Scene['box']): void {
    if (Number.isNaN(ends[0] + ends[1]) || ends[0] === ends[1]) return;
    const start = (across ? box.left : box.top) - 10;
    const end = start + (across ? box.width : box.height) + 20;
    const [one, other] = ends.map((position) => Math.max(start, Math.min(end, position))) as [number, number];
    if (one === other) return;
    const path: [number, number][] = [[one, -CAP], [one, CAP], [one, 0], [other, 0], [other, -CAP], [other, CAP]]; // prettier-ignore
    pen.line(path.flatMap(([along, aside]) => (across ? [along, at + aside] : [at + aside, along])), colour); // prettier-ignore
}

const coloursOf = ({ data: { shades }, theme }: Scene): Uint32Array =>
    shades ? (shades.type === 'values' ? theme.ramp : theme.kinds) : Uint32Array.of(cssToPixel(theme.accent));

const pictures = new WeakMap<Scene, HTMLCanvasElement>();

function pictureOf(scene: Scene): HTMLCanvasElement {
    const known = pictures.get(scene);
    if (known) return known;
    const { data } = scene;
    const { raster, opacity } = rasterOf(scene);
    const errors = { x: data.layers.xErrors, y: data.layers.yErrors };
    const pixels = errorBarPixels(data.points, raster, errors, {
        opacity: opacity / 2,
        shades: data.shades?.points,
        colours: coloursOf(scene),
    });
    const drawn = drawPixels(pixels, raster.width, raster.height);
    pictures.set(scene, drawn);
    return drawn;
}
