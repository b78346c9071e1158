/**
 * Summaries of a plot's rows by its layers: contours, means in bins, a fitted line. Computed when the view and the chosen
 * rows have stopped changing.
 */

import type { View } from '../../canvas/plotView';
import type { Points } from '../points/plotPoints';
import type { PlotSettings } from '../points/plotSettings';
import { isShown, type LayerSummary, type SummaryScene } from './layer';
import { LAYERS } from './layerTable';

const shownIn = (settings: PlotSettings) => LAYERS.filter((layer) => layer.summarize && isShown(layer, settings));

/** Whether the settings have layers to compute. */
export const hasSummary = (settings: PlotSettings): boolean => shownIn(settings).length > 0;

/**
 * Compute the layers of a scene.
 *
 * @param chosen - one byte per row, 1 for the chosen rows; undefined for the rows in view
 * @returns the summary; undefined if no layer needs one
 */
export function summarizeLayers(scene: SummaryScene, chosen: Uint8Array | undefined): LayerSummary | undefined {
    const { settings, points } = scene.data;
    const shown = shownIn(settings);
    if (shown.length === 0) return undefined;
    let found: Uint32Array | undefined;
    const members = () => (found ??= findMembers(points, scene.view, chosen));
    const none = { contours: [], binned: [], fit: undefined, unfit: false, weighted: false };
    const parts = shown.map((layer) => layer.summarize!({ scene, members }));
    return Object.assign({ settings, basis: chosen ? 'chosen' : 'view', ...none } as LayerSummary, ...parts);
}

/** Return the points of the chosen rows, or of the rows in view. */
function findMembers({ rows, u, v, count }: Points, view: View, chosen: Uint8Array | undefined): Uint32Array {
    const [u0, u1] = [Math.min(view.u0, view.u1), Math.max(view.u0, view.u1)];
    const [v0, v1] = [Math.min(view.v0, view.v1), Math.max(view.v0, view.v1)];
    const members = new Uint32Array(count);
    let found = 0;
    for (let k = 0; k < count; k++) {
        const isIn = chosen ? chosen[rows[k]!] : u[k]! >= u0 && u[k]! <= u1 && v[k]! >= v0 && v[k]! <= v1;
        if (isIn) members[found++] = k;
    }
    return members.subarray(0, found);
}
