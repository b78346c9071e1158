/** Paints a plot with a pen: on the screen, to PNG, SVG and PDF. */

import { drawLabels, drawLines } from '../../sky/graticule';
import { drawAxes, drawGrid } from '../../canvas/plotAxes';
import { drawLegend, type Scale } from '../../canvas/legend';
import type { Pen } from '../../canvas/pen';
import { paintBars, paintChosenBars, paintDensity, paintMap } from './paintCounts';
import { summarizeLayers } from '../layers/layerSummary';
import { paintChosenLayers, paintStep, paintSummary } from '../layers/layerTable';
import { axisStyles } from '../points/axisStyles';
import { paintChosenPoints, paintPoints } from '../points/paintPoints';
import { legendBox, type Scene } from '../points/plotScene';

/** Paint a whole plot: background, points or densities, axes, legend, notes, the chosen rows, and layers. */
export function paintScene(pen: Pen, scene: Scene, chosen: Uint8Array | undefined): void {
    paintPicture(pen, scene, chosen !== undefined);
    if (chosen) paintChosen(pen, scene, chosen);
    paintSummary(pen, scene, summarizeLayers(scene, chosen));
}

/** Paint everything but the chosen rows; all others are faint. */
export function paintPicture(pen: Pen, scene: Scene, faint: boolean): void {
    const { size, theme, note, box } = scene;
    pen.fill(0, 0, size.width, size.height, theme.ground);
    if (scene.data.settings.kind === 'sky') paintSky(pen, scene, faint);
    else paintPlane(pen, scene, faint);
    const style = { colour: theme.warn, baseline: 'top', halo: theme.ground } as const;
    if (note) pen.text(note, box.left + 6, box.top + 6, style);
}

/** Paint the chosen rows above the picture. */
export function paintChosen(pen: Pen, scene: Scene, chosen: Uint8Array): void {
    if (scene.data.settings.kind === 'histogram') paintChosenBars(pen, scene, chosen);
    else paintChosenPoints(pen, scene, chosen);
    paintChosenLayers(pen, scene, chosen);
}

function paintPlane(pen: Pen, scene: Scene, faint: boolean): void {
    const { theme, view, box } = scene;
    const [x, y] = axisStyles(scene);
    drawGrid(pen, view, box, x, y, theme.line);
    paintStep('under', pen, scene, faint);
    const scale = paintMarks(pen, scene, faint);
    paintStep('over', pen, scene, faint);
    drawAxes(pen, view, box, x, y, theme);
    if (scale) drawLegend(pen, legendBox(scene), scale, theme);
}

/** Paint bars, cells or points. Return the scale of their colours. */
function paintMarks(pen: Pen, scene: Scene, faint: boolean): Scale | undefined {
    const { kind } = scene.data.settings;
    if (kind === 'density') return paintDensity(pen, scene);
    if (kind !== 'histogram') return paintPoints(pen, scene, faint);
    paintBars(pen, scene);
    return undefined;
}

function paintSky(pen: Pen, scene: Scene, faint: boolean): void {
    const { data, view, box, theme } = scene;
    const map = data.settings.skyStyle === 'density';
    if (!map) drawLines(pen, view, box, data.centre, theme);
    const scale = map ? paintMap(pen, scene) : paintPoints(pen, scene, faint);
    if (map) drawLines(pen, view, box, data.centre, theme);
    paintStep('over', pen, scene, faint);
    drawLabels(pen, view, box, data.centre, theme);
    if (scale) drawLegend(pen, legendBox(scene), scale, theme);
}
