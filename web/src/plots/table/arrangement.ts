/** The layout of a plot's picture and the view that it shows. */

import { equalizeScales, type Box, type View } from '../../canvas/plotView';
import type { Table } from '../../model/resultModel';
import { findMargin, LAYERS, wholeExtent } from '../layers/layerTable';
import { countBins, suitableBins, type Histogram } from '../points/binning';
import type { PlotData } from '../points/plotData';
import { padRange, plotBox, skyView, viewOfExtent, type Size } from '../points/plotLayout';
import type { Points } from '../points/plotPoints';
import { hasLegend } from '../points/plotScene';
import { AXES, isReversed } from '../points/plotSettings';

/** The layout of a picture. */
export interface Arrangement {
    readonly box: Box;
    readonly view: View;
    /** room for layers above the plot and to its right, in CSS pixels */
    readonly margin: number;
    readonly histogram: Histogram | undefined;
}

/** Return box and view: the user's view, or else the view of all points. */
export function arrangeScene(
    data: PlotData,
    table: Pick<Table, 'fields'>,
    size: Size,
    looked: View | undefined,
): Arrangement {
    const { settings, points } = data;
    const margin = findMargin(settings, size);
    const box = plotBox(size, settings.kind === 'sky', hasLegend(data), margin);
    const extent = wholeExtent(data);
    if (settings.kind === 'sky') {
        const view = looked ? equalizeScales(looked, box) : skyView(points.count ? extent : points.extent, box);
        return { box, margin, view, histogram: undefined };
    }
    const [horizontal, vertical] = AXES[settings.kind].map((role) => settings.axes[role]);
    const reversed = {
        u:
            isReversed(table.fields, horizontal!) && settings.kind !== 'histogram'
                ? true
                : horizontal!.reversed === true,
        v: vertical !== undefined && isReversed(table.fields, vertical),
    };
    const view = looked ?? viewOfExtent(extent, reversed);
    if (settings.kind !== 'histogram') return { box, margin, view, histogram: undefined };
    const [low, high] = [Math.min(view.u0, view.u1), Math.max(view.u0, view.u1)];
    const bins = settings.bins || suitableBins(points.u, low, high);
    const count = (own: Points) => countBins(own, low, high, bins);
    const others = LAYERS.flatMap((layer) => layer.countBins?.(data, (own) => count(own).counts) ?? []);
    const counted = { ...count(points), others };
    return { box, margin, view: { ...view, ...countRange(counted, settings.logCounts) }, histogram: counted };
}

/** Return the vertical range of a histogram. */
function countRange({ counts, others }: Histogram, log: boolean): { v0: number; v1: number } {
    const most = [counts, ...others].flatMap((own) => [...own]).reduce((one, other) => Math.max(one, other), 1);
    if (log) return { v0: Math.log10(0.5), v1: padRange(0, Math.log10(most))[1] + 0.05 };
    return { v0: 0, v1: most * 1.06 };
}
