/** Paints points as shapes, for vector files. */

import { pixelToCss } from '../../canvas/colourRamps';
import type { Pen } from '../../canvas/pen';
import { xOnScreen, yOnScreen } from '../../canvas/plotView';
import type { Scene } from './plotScene';
import { pointRadius } from './scatterPixels';

/** Least radius of points, and of chosen ones, in CSS pixels. */
const LEAST = 0.4;
const LEAST_CHOSEN = 1.2;

/** Paint the points of a view; or the chosen ones, in the colour of the choice. */
export function paintShapes(pen: Pen, scene: Scene, opacity: number, chosen?: Uint8Array): void {
    const { data, view, box, theme } = scene;
    const { points, shades, settings } = data;
    const raster = { view, width: Math.round(box.width), height: Math.round(box.height), ratio: 1 };
    const size = chosen ? Math.min(1, settings.size) : settings.size;
    const radius = Math.max(chosen ? LEAST_CHOSEN : LEAST, pointRadius(points, raster) * size);
    const drawn: number[] = [];
    for (let k = 0; k < points.count; k++) {
        const [x, y] = [xOnScreen(view, box, points.u[k]!), yOnScreen(view, box, points.v[k]!)];
        const within = x >= box.left && x <= box.left + box.width && y >= box.top && y <= box.top + box.height;
        if (within && (!chosen || chosen[points.rows[k]!])) drawn.push(k);
    }
    const ramp = shades?.type === 'values' ? theme.ramp : theme.kinds;
    const coloured = shades && !chosen;
    const colours = coloured ? Array.from(ramp, pixelToCss) : [chosen ? theme.warn : theme.accent];
    const x = Float64Array.from(drawn, (k) => xOnScreen(view, box, points.u[k]!));
    const y = Float64Array.from(drawn, (k) => yOnScreen(view, box, points.v[k]!));
    const own = coloured ? Uint8Array.from(drawn, (k) => shades.points[k]!) : undefined;
    pen.within(box, () => {
        pen.discs({ x, y, count: drawn.length, radius, colours, shades: own, opacity });
    });
}
