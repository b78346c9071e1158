/** A scene in words. */

import type { LayerSummary } from '../layers/layer';
import { describeLayers } from '../layers/layerTable';
import type { Scene } from '../points/plotScene';
import { describePlot } from '../table/plotDescription';

/** Describe a plot with its note and its layers. */
export function describeScene(
    { data, fields, view, note }: Scene,
    chosen: number,
    summary: LayerSummary | undefined,
): string {
    const notes = [note, ...describeLayers(data, fields, summary)].filter(Boolean);
    return describePlot(data, fields, view, chosen, notes);
}
