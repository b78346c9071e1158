/** The content and layout of a painted plot. The chosen rows are separate, so that a brush repaints only them. */

import type { Field } from '../../model/resultModel';
import type { Theme } from '../../canvas/canvasTheme';
import { LEGEND_WIDTH } from '../../canvas/legend';
import type { Box, View } from '../../canvas/plotView';
import type { Histogram } from './binning';
import type { PlotData } from './plotData';
import type { Size } from './plotLayout';

export interface Scene {
    readonly data: PlotData;
    readonly fields: readonly Field[];
    readonly view: View;
    readonly box: Box;
    /** room for layers above the plot and to its right, in CSS pixels */
    readonly margin: number;
    readonly size: Size;
    readonly theme: Theme;
    /** device pixels per CSS pixel */
    readonly ratio: number;
    /** for a file: every raster has `ratio` pixels per CSS pixel, however many points there are */
    readonly exact?: boolean;
    /** histograms only */
    readonly histogram: Histogram | undefined;
    /** the view is moving: maps may be coarser */
    readonly moving: boolean;
    /** note on the picture that rows are missing; '' if none are */
    readonly note: string;
}

/** Return the box of the legend, to the right of the plot and of its layers. */
export function legendBox({ box, margin }: Scene): Box {
    return { left: box.left + box.width + 12 + margin, top: box.top, width: LEGEND_WIDTH, height: box.height };
}

/** Whether a plot has a legend on its right. */
export function hasLegend(data: PlotData): boolean {
    const { kind, skyStyle } = data.settings;
    return kind === 'density' || (kind === 'sky' && skyStyle === 'density') || data.shades !== undefined;
}
