/** All layers of plots, in the order in which they are painted and offered, and functions that ask each of them. */

import type { Pen } from '../../canvas/pen';
import type { Field } from '../../model/resultModel';
import type { LayerSettings } from '../points/layerSettings';
import type { LayerData, PlotData } from '../points/plotData';
import type { Size } from '../points/plotLayout';
import type { Extent } from '../points/plotPoints';
import type { Scene } from '../points/plotScene';
import { isSamePlane, type AxisRole, type PlotSettings } from '../points/plotSettings';
import type { ScriptLayers } from '../script/scriptSettings';
import { binStatistics } from './binStatistics';
import { connectedPoints } from './connectedPoints';
import { contours } from './contours';
import { errorBars } from './errorBars';
import { fittedLine } from './fittedLine';
import { isShown, type Layer, type LayerPainter, type LayerSource, type LayerSummary } from './layer';
import { marginals } from './marginals';
import { overlays } from './overlays';

export const LAYERS: readonly Layer[] = [
    errorBars,
    connectedPoints,
    contours,
    marginals,
    binStatistics,
    fittedLine,
    overlays,
];

export const NO_LAYERS = Object.assign({}, ...LAYERS.map(({ kept }) => kept.usual)) as LayerSettings;

/** Whether a plot has layers. */
export const hasLayers = (settings: PlotSettings): boolean => LAYERS.some((layer) => isShown(layer, settings));

/** Return the settings of layers after another quantity was chosen for an axis. */
export const settingsAfterAxis = (layers: LayerSettings, role: AxisRole): LayerSettings =>
    Object.assign({}, layers, ...LAYERS.map((layer) => layer.afterAxis?.(layers, role)));

/** Whether changes belong to a layer that the axes must cover. */
export const changesExtent = (changes: Partial<LayerSettings>): boolean =>
    LAYERS.some(({ extents, kept }) => extents && Object.keys(changes).some((name) => name in kept.usual));

/** Load what the layers of the settings need. */
export async function loadLayers(source: LayerSource): Promise<LayerData> {
    const loaded = await Promise.all(LAYERS.map((layer) => layer.load?.(source)));
    return Object.assign({}, ...loaded) as LayerData;
}

/** Return the room for layers above a plot and to its right, in CSS pixels. */
export const findMargin = (settings: PlotSettings, size: Size): number =>
    Math.max(0, ...LAYERS.map((layer) => (isShown(layer, settings) ? (layer.margin?.(size) ?? 0) : 0)));

/** Return the extent of a plot's points and of what layers show besides. */
export function wholeExtent(data: PlotData): Extent {
    const all = [data.points.extent, ...LAYERS.flatMap((layer) => layer.extents?.(data) ?? [])];
    const least = (key: keyof Extent) => Math.min(...all.map((one) => one[key]).filter((end) => !Number.isNaN(end)));
    const most = (key: keyof Extent) => Math.max(...all.map((one) => one[key]).filter((end) => !Number.isNaN(end)));
    return { u0: least('u0'), u1: most('u1'), v0: least('v0'), v1: most('v1') };
}

/** Paint one step of all layers. */
export function paintStep(
    step: 'under' | 'over',
    ...[pen, scene, faint]: Parameters<NonNullable<LayerPainter['under']>>
): void {
    for (const { paint } of LAYERS) paint[step]?.(pen, scene, faint);
}

export function paintChosenLayers(pen: Pen, scene: Scene, chosen: Uint8Array): void {
    for (const { paint } of LAYERS) paint.chosen?.(pen, scene, chosen);
}

/** Paint a summary if it belongs to the current axes, and the names of the layers. */
export function paintSummary(pen: Pen, scene: Scene, summary: LayerSummary | undefined): void {
    const valid = summary && isSamePlane(summary.settings, scene.data.settings) ? summary : undefined;
    if (valid)
        pen.within(scene.box, () => {
            for (const { paint } of LAYERS) paint.lines?.(pen, scene, valid);
            for (const { paint } of LAYERS) paint.marks?.(pen, scene, valid);
        });
    for (const { paint } of LAYERS) paint.words?.(pen, scene, valid);
}

/** Describe the layers of a plot, each separately. */
export function describeLayers(data: PlotData, fields: readonly Field[], summary: LayerSummary | undefined): string[] {
    const valid = summary && isSamePlane(summary.settings, data.settings) ? summary : undefined;
    return LAYERS.flatMap((layer) => layer.describe(data, fields, valid));
}

/** Explain which layers cannot be shown, and why. */
export const explainMissingLayers = (data: PlotData): string[] =>
    LAYERS.flatMap((layer) => layer.explain?.(data) ?? []);

/** Return the layers as a script draws them, and the titles of the layers that it leaves out. */
export function scriptLayers(
    scene: Scene,
    summary: LayerSummary | undefined,
): { layers: ScriptLayers; leftOut: string[] } {
    const layers = Object.assign({}, ...LAYERS.map((layer) => layer.script?.(scene, summary))) as ScriptLayers;
    const leftOut = LAYERS.filter((layer) => !layer.script && isShown(layer, scene.data.settings));
    return { layers, leftOut: leftOut.map(({ title }) => title) };
}
