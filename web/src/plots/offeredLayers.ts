/** Which layers each kind of plot can have. */

import type { PlotKind, PlotSettings } from './plotSettings';

export type LayerName = 'errors' | 'connected' | 'contours' | 'marginals' | 'statistic' | 'fitted' | 'overlays';

const OFFERED: Partial<Record<PlotKind, readonly LayerName[]>> = {
    scatter: ['errors', 'connected', 'contours', 'marginals', 'statistic', 'fitted', 'overlays'],
    density: ['contours', 'marginals', 'statistic', 'fitted', 'overlays'],
    histogram: ['overlays'],
    sky: ['overlays'],
    curve: ['connected', 'statistic', 'fitted', 'overlays'],
};

/** Whether a plot can have a layer. A line over phases would fit every row twice. */
export function canHaveLayer({ kind, period }: PlotSettings, layer: LayerName): boolean {
    if (layer === 'fitted' && kind === 'curve' && period > 0) return false;
    return OFFERED[kind]?.includes(layer) ?? false;
}

/** Whether histograms stand above and beside the plot. */
export const hasMarginals = (settings: PlotSettings): boolean =>
    settings.layers.marginals && canHaveLayer(settings, 'marginals');
