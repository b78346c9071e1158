/** Paints a plot with a pen: on the screen, to PNG, SVG and PDF. */

import { drawLabels, drawLines } from '../sky/graticule';
import type { Field } from '../model/resultModel';
import { text } from '../text';
import { drawAxes, drawGrid, type AxisStyle } from '../canvas/plotAxes';
import { drawLegend } from '../canvas/legend';
import type { Pen } from '../canvas/pen';
import { paintBars, paintChosenBars, paintDensity, paintMap } from './paintCounts';
import { summarizeLayers } from './layerSummary';
import { paintConnected } from './paintConnected';
import { paintErrorBars } from './paintErrorBars';
import { paintLayers } from './paintLayers';
import { paintChosenMarginals, paintMarginals } from './paintMarginals';
import { paintOverlayBins, paintOverlays } from './paintOverlays';
import { paintChosenPoints, paintPoints } from './paintPoints';
import type { PlotData } from './plotData';
import { legendBox, type Scene } from './plotScene';
import { quantityLabel, type Axis, type AxisRole } from './plotSettings';

/** Paint a whole plot: background, points or densities, axes, legend, notes, the chosen rows, and layers. */
export function paintScene(pen: Pen, scene: Scene, chosen: Uint8Array | undefined): void {
    paintPicture(pen, scene, chosen !== undefined);
    if (chosen) paintChosen(pen, scene, chosen);
    paintLayers(pen, scene, summarizeLayers(scene, chosen));
}

/** Paint everything but the chosen rows; all others are faint beside them. */
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
    else {
        paintChosenPoints(pen, scene, chosen);
        paintChosenMarginals(pen, scene, chosen);
    }
}

function paintPlane(pen: Pen, scene: Scene, faint: boolean): void {
    const { theme, view, box, data } = scene;
    const [x, y] = axisStyles(scene);
    drawGrid(pen, view, box, x, y, theme.line);
    const { kind } = data.settings;
    if (kind === 'histogram') {
        paintBars(pen, scene);
        paintOverlayBins(pen, scene);
    } else {
        paintErrorBars(pen, scene, faint);
        paintConnected(pen, scene, faint);
        paintMarginals(pen, scene, faint);
    }
    const scale =
        kind === 'density'
            ? paintDensity(pen, scene)
            : kind === 'histogram'
              ? undefined
              : paintPoints(pen, scene, faint);
    if (kind !== 'histogram') paintOverlays(pen, scene, faint);
    drawAxes(pen, view, box, x, y, theme);
    if (scale) drawLegend(pen, legendBox(scene), scale, theme);
}

function paintSky(pen: Pen, scene: Scene, faint: boolean): void {
    const { data, view, box, theme } = scene;
    const map = data.settings.skyStyle === 'density';
    if (!map) drawLines(pen, view, box, data.centre, theme);
    const scale = map ? paintMap(pen, scene) : paintPoints(pen, scene, faint);
    if (map) drawLines(pen, view, box, data.centre, theme);
    paintOverlays(pen, scene, faint);
    drawLabels(pen, view, box, data.centre, theme);
    if (scale) drawLegend(pen, legendBox(scene), scale, theme);
}

/** Return the labels and ticks of the axes of a plot other than the sky. */
export function axisStyles({ data, fields }: Pick<Scene, 'data' | 'fields'>): [AxisStyle, AxisStyle] {
    const { settings } = data;
    const style = (role: AxisRole): AxisStyle => plainStyle(fields, settings.axes[role], settings.calendar);
    if (settings.kind === 'histogram') {
        return [style('value'), { label: text.plots.counts, log: settings.logCounts }];
    }
    if (settings.kind !== 'curve') return [style('x'), style('y')];
    if (settings.period > 0)
        return [{ label: text.plots.phase(settings.period, settings.phaseZero), log: false }, style('flux')];
    const { epoch } = data;
    if (!settings.calendar || epoch === undefined)
        return [{ ...style('time'), log: false, epoch: undefined }, style('flux')];
    return [{ label: fields[settings.axes.time.column]?.name ?? '', log: false, epoch }, style('flux')];
}

function plainStyle(fields: readonly Field[], axis: Axis, calendar: boolean): AxisStyle {
    const instants = calendar && fields[axis.column]?.kind === 'time' && axis.minus < 0 && !axis.log;
    if (instants) return { label: fields[axis.column]!.name, log: false, epoch: 0 };
    return { label: quantityLabel(fields, axis), log: axis.log };
}

/** Whether a plot has a legend on its right. */
export function hasLegend(data: PlotData): boolean {
    const { kind, skyStyle } = data.settings;
    return kind === 'density' || (kind === 'sky' && skyStyle === 'density') || data.shades !== undefined;
}
