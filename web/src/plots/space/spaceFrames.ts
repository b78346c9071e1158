/** Frames of a plot in space: for WebGL, for files, and the positions of its points on the screen. */

import { cssParts } from '../../canvas/colourRamps';
import { prepareCanvas } from '../../canvas/pixelCanvas';
import { sceneProjection, sceneSize } from './paintSpace';
import type { Points } from '../points/plotPoints';
import { projectPosition } from './spaceCamera';
import { renderRatio, SpaceRenderer, type SpaceFrame } from './spaceRenderer';
import { discRadii, markPoints, spacePoints, type SpaceScene } from './spaceScene';

/** Return how a scene is drawn with WebGL: `share` of its points, `faint` while some are chosen. */
export function frameOf(scene: SpaceScene, ratio: number, faint: boolean, share: number): SpaceFrame {
    const { theme } = scene;
    const ground = theme.dark ? ([0.06, 0.08, 0.13] as const) : ([1, 1, 1] as const);
    const mark = cssParts(theme.warn).rgb;
    return { projection: sceneProjection(scene), ratio, radii: discRadii(scene.values), ground, mark, faint, share };
}

/** Pixels that every graphics processor draws. */
const FINEST = 4096;

/** Draw the points on a separate canvas, at the fineness of a file. */
export function drawSeparately(scene: SpaceScene, chosen: Uint8Array | undefined): HTMLCanvasElement {
    const canvas = document.createElement('canvas');
    const renderer = new SpaceRenderer(canvas);
    renderer.setPoints(spacePoints(scene.values, scene.theme));
    if (chosen) renderer.setChosen(markPoints(scene.values, chosen));
    const { width, height } = sceneSize(scene);
    const fine = renderRatio(scene.values.rows.length, scene.ratio);
    const ratio = Math.max(width, height) * fine > FINEST ? scene.ratio : fine;
    renderer.draw(frameOf(scene, ratio, chosen !== undefined, 1));
    const drawn = document.createElement('canvas');
    prepareCanvas(drawn, width, height, scene.ratio).drawImage(canvas, 0, 0, width, height);
    renderer.close();
    return drawn;
}

/** Return the points in CSS pixels of the picture. */
export function projectPoints(scene: SpaceScene): Points {
    const { axes, rows } = scene.values;
    const by = sceneProjection(scene);
    const [u, v] = [new Float64Array(rows.length), new Float64Array(rows.length)];
    const scales = axes.map(({ range: [from, to] }) => ({ from, factor: 2 / (to - from) }));
    const at = (axis: number, k: number) => (axes[axis]!.values[k]! - scales[axis]!.from) * scales[axis]!.factor - 1;
    for (let k = 0; k < rows.length; k++) {
        const [x, y] = projectPosition(by, at(0, k), at(1, k), at(2, k));
        u[k] = x;
        v[k] = y;
    }
    const extent = { u0: NaN, u1: NaN, v0: NaN, v1: NaN };
    return { rows, u, v, count: rows.length, missing: 0, notPositive: 0, extent };
}
