/** What is painted, and where. The chosen rows are apart from it, so that a brush repaints nothing else. */

import type { Field } from '../model/resultModel';
import type { Theme } from '../canvas/canvasTheme';
import { LEGEND_WIDTH } from '../canvas/legend';
import type { Box, View } from '../canvas/plotView';
import type { Histogram } from './binning';
import type { PlotData } from './plotData';
import { marginalRoom, type Size } from './plotLayout';
import { hasMarginals } from './offeredLayers';

export interface Scene {
    readonly data: PlotData;
    readonly fields: readonly Field[];
    readonly view: View;
    readonly box: Box;
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

/** Return the place of the legend, on the right of the plot and of the histogram beside it. */
export function legendBox({ box, size, data }: Scene): Box {
    const left = box.left + box.width + 12 + (hasMarginals(data.settings) ? marginalRoom(size) : 0);
    return { left, top: box.top, width: LEGEND_WIDTH, height: box.height };
}
