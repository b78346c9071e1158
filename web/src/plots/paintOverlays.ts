/** Paints the points of further results, each in a colour of its own. */

import { KIND_COUNT, pixelToCss } from '../canvas/colourRamps';
import type { Pen } from '../canvas/pen';
import { xOnScreen, yOnScreen } from '../canvas/plotView';
import { paintPoints } from './paintPoints';
import type { Scene } from './plotScene';

/** Kinds whose colours differ most from the colour of points and of chosen ones, best first. */
const DISTINCT = [4, 2, 7, 6, 5, 1];

/** Return the colour of each overlay, other than those of the plot's own kinds where there are enough. */
export function overlayColours({ data, theme }: Scene): number[] {
    const { shades, layers } = data;
    const taken = shades?.type === 'kinds' ? Math.min(shades.names.length, KIND_COUNT - 1) : 0;
    const free = DISTINCT.filter((kind) => kind >= taken);
    const usable = free.length > 0 ? free : DISTINCT;
    return layers.overlays.map((_, at) => theme.kinds[usable[at % usable.length]!]!);
}

const scenes = new WeakMap<Scene, readonly (Scene | undefined)[]>();

/** Return a scene for each overlay: the same view with other points. What is painted of them is kept with it. */
function scenesOf(scene: Scene): readonly (Scene | undefined)[] {
    const known = scenes.get(scene);
    if (known) return known;
    const colours = overlayColours(scene);
    const made = scene.data.layers.overlays.map(({ points }, at) => {
        if (!points) return undefined;
        const theme = { ...scene.theme, accent: pixelToCss(colours[at]!) };
        return { ...scene, theme, data: { ...scene.data, points, shades: undefined } };
    });
    scenes.set(scene, made);
    return made;
}

/** Paint the overlays of a plane or of the sky. */
export function paintOverlays(pen: Pen, scene: Scene, faint: boolean): void {
    for (const overlay of scenesOf(scene)) if (overlay) paintPoints(pen, overlay, faint);
}

/** Paint the outlines of the overlays' bins over a histogram. */
export function paintOverlayBins(pen: Pen, scene: Scene): void {
    const { histogram, view, box, data } = scene;
    const colours = overlayColours(scene);
    const height = (count: number) =>
        yOnScreen(view, box, data.settings.logCounts ? Math.log10(Math.max(count, 0.1)) : count);
    pen.within(box, () =>
        histogram?.overlays?.forEach((counts, at) => {
            const path: number[] = [];
            counts.forEach((count, bin) => {
                const ends = [bin, bin + 1].map((edge) =>
                    xOnScreen(view, box, histogram.start + edge * histogram.width),
                );
                path.push(ends[0]!, height(count), ends[1]!, height(count));
            });
            if (path.length > 0) pen.line(path, pixelToCss(colours[at]!), 2);
        }),
    );
}
