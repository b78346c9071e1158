/** The data of a plot of two axes: columns as points, their colours, and what its layers need. */

import type { Overlay } from './layerSettings';
import type { Points } from './plotPoints';
import type { PlotSettings } from './plotSettings';
import type { Shades } from './pointShades';
import type { ShownColumn } from './shownColumn';
import type { SkyCellCounts } from './skyCellCounts';

export interface PlotData {
    /** axes first, then errors and colours */
    readonly columns: readonly ShownColumn[];
    readonly settings: PlotSettings;
    readonly points: Points;
    readonly shades: Shades | undefined;
    readonly layers: LayerData;
    /** sky only: the longitude in the middle, and the points in HEALPix cells */
    readonly centre: number;
    readonly cells: SkyCellCounts | undefined;
    /** offset of the time axis from MJD; undefined if it cannot show dates */
    readonly epoch: number | undefined;
    /** the same, also for folded times */
    readonly dayOffset: number | undefined;
}

/** What the layers of a plot have loaded. */
export interface LayerData {
    readonly xErrors: AxisErrors | undefined;
    readonly yErrors: AxisErrors | undefined;
    /** what orders connected points, by row; undefined: the horizontal axis */
    readonly order: Float64Array | undefined;
    readonly overlays: readonly OverlayData[];
    /** of the plot's own result; '' if it has none */
    readonly title: string;
}

/** Half error bars of each row, in values of the axis. */
export interface AxisErrors {
    readonly low: Float64Array;
    readonly high: Float64Array;
    readonly log: boolean;
    /** columns for tooltips and exports */
    readonly columns: readonly ShownColumn[];
}

/** The points of another result over the plot. */
export interface OverlayData {
    readonly overlay: Overlay;
    /** undefined: its table is closed, or an axis has no column of it */
    readonly points: Points | undefined;
    readonly problem: 'closed' | 'columns' | undefined;
}

/** Return the column that colours the points. */
export function colourColumn(settings: PlotSettings): number {
    if (settings.kind === 'curve') return settings.band;
    const coloured = settings.kind === 'scatter' || (settings.kind === 'sky' && settings.skyStyle === 'points');
    return coloured ? settings.colour : -1;
}
