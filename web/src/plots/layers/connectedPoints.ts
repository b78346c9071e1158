/** Lines that connect the points of a plot in an order. */

import { cssToPixel, mixColours, pixelToCss } from '../../canvas/colourRamps';
import type { Pen } from '../../canvas/pen';
import { xOnScreen, yOnScreen } from '../../canvas/plotView';
import { MAX_ORDERED, MAX_SEGMENTS, orderPoints, thinByColumns } from '../../statistics/connectedLines';
import { plotTexts } from '../../text/plotTexts';
import { NO_COLUMN } from '../points/layerSettings';
import type { PlotData } from '../points/plotData';
import type { Scene } from '../points/plotScene';
import ConnectedOptions from './ConnectedOptions.svelte';
import { isShown, type Layer } from './layer';

const texts = plotTexts.layers;
/** The part of the ground in the colour of lines. */
const PALE = { usual: 0.25, faint: 0.75 };

export const connectedPoints: Layer = {
    title: texts.connected,
    kinds: ['scatter', 'curve'],
    isOn: ({ connected }) => connected,
    kept: { usual: { connected: false, orderedBy: NO_COLUMN }, columns: ['orderedBy'] },
    load: async ({ table, settings }) => {
        const column = isShown(connectedPoints, settings) ? settings.layers.orderedBy : NO_COLUMN;
        return { order: column >= 0 ? await table.readNumbers(column) : undefined };
    },
    paint: { under: paintConnected },
    describe: (data) =>
        connectionOf(data) === 'lines' ? [texts.description.connected(data.shades?.type === 'kinds')] : [],
    explain: (data) => (connectionOf(data) === 'too many' ? [texts.tooMany] : []),
    Options: ConnectedOptions,
};

/** Return whether points are connected, or are too many for that. */
function connectionOf({ settings, points, layers }: PlotData): 'none' | 'lines' | 'too many' {
    if (!isShown(connectedPoints, settings)) return 'none';
    return layers.order && points.count > MAX_ORDERED ? 'too many' : 'lines';
}

/** Paint a line through the points of each kind, or through all. */
function paintConnected(pen: Pen, scene: Scene, faint: boolean): void {
    const { data, view, box, theme } = scene;
    if (connectionOf(data) !== 'lines') return;
    const { shades, points } = data;
    const kinds = shades?.type === 'kinds' ? shades.points : undefined;
    const ground = cssToPixel(theme.ground);
    pen.within(box, () => {
        for (const line of linesOf(scene, kinds)) {
            const first = line[0]!;
            const colour = kinds ? theme.kinds[kinds[first]!]! : cssToPixel(shades ? theme.quiet : theme.accent);
            const path = new Array<number>(2 * line.length);
            line.forEach((point, k) => {
                path[2 * k] = xOnScreen(view, box, points.u[point]!);
                path[2 * k + 1] = yOnScreen(view, box, points.v[point]!);
            });
            pen.line(path, pixelToCss(mixColours(colour, ground, faint ? PALE.faint : PALE.usual)), 1.2);
        }
    });
}

const ordered = new WeakMap<PlotData, Uint32Array[]>();
const thinned = new WeakMap<Scene, Uint32Array[]>();

function linesOf(scene: Scene, kinds: Uint8Array | undefined): Uint32Array[] {
    const { data, view, box, ratio } = scene;
    const { points, layers } = data;
    if (!layers.order && points.count > MAX_SEGMENTS) {
        const ends = [Math.min(view.u0, view.u1), Math.max(view.u0, view.u1)] as const;
        const lines = thinned.get(scene) ?? thinByColumns(points, kinds, ends, Math.round(box.width * ratio));
        thinned.set(scene, lines);
        return lines;
    }
    const keys = layers.order ? Float64Array.from(points.rows, (row) => layers.order![row]!) : points.u;
    const lines = ordered.get(data) ?? orderPoints(keys, kinds);
    ordered.set(data, lines);
    return lines;
}
