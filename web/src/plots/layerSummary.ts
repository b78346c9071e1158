/** What layers tell of a plot's rows: contours, means in bins, a fitted line. Computed once the view and the chosen rows rest. */

import { niceStep } from '../canvas/axisTicks';
import type { Box, View } from '../canvas/plotView';
import { binValues, type BinnedValue, type Bins } from '../layers/binnedValues';
import { fitLine, type LineFit } from '../layers/lineFit';
import { findContours, type Contour } from './densityContours';
import { scaledError } from './layerData';
import { canHaveLayer } from './offeredLayers';
import type { PlotData } from './plotData';
import type { Points } from './plotPoints';
import type { PlotSettings } from './plotSettings';

export interface LayerSummary {
    readonly settings: PlotSettings;
    readonly contours: readonly Contour[];
    readonly binned: readonly BinnedValue[];
    readonly fit: LineFit | undefined;
    /** a line is wanted, but there are too few rows of different x */
    readonly unfit: boolean;
    /** rows of the means and of the line */
    readonly basis: 'chosen' | 'view';
    readonly weighted: boolean;
}

type Arranged = { readonly data: PlotData; readonly view: View; readonly box: Box };

/** Whether the settings have layers to compute. */
export function hasSummary(settings: PlotSettings): boolean {
    const { contours, statistic, fitted } = settings.layers;
    return (
        (contours !== 'none' && canHaveLayer(settings, 'contours')) ||
        (statistic !== 'none' && canHaveLayer(settings, 'statistic')) ||
        (fitted && canHaveLayer(settings, 'fitted'))
    );
}

/** Compute the layers: contours of all rows in view; means and line of the chosen rows, else of those in view. */
export function summarizeLayers(scene: Arranged, chosen: Uint8Array | undefined): LayerSummary | undefined {
    const { data, view } = scene;
    const { settings, points } = data;
    if (!hasSummary(settings)) return undefined;
    const { statistic, fitted } = settings.layers;
    const wantsFit = fitted && canHaveLayer(settings, 'fitted');
    const wantsBins = statistic !== 'none' && canHaveLayer(settings, 'statistic');
    const members = wantsFit || wantsBins ? membersOf(points, view, chosen) : new Uint32Array();
    const errors = wantsFit ? errorsOf(data) : undefined;
    const fit = wantsFit ? fitLine({ x: points.u, y: points.v, members, errors }) : undefined;
    return {
        settings,
        contours: contoursOf(scene),
        binned: wantsBins ? binPoints(points, members, settings.layers.statisticBins, statistic) : [],
        fit,
        unfit: wantsFit && !fit,
        basis: chosen ? 'chosen' : 'view',
        weighted: errors !== undefined,
    };
}

/** Return the points of the chosen rows, or of those in view. */
function membersOf({ rows, u, v, count }: Points, view: View, chosen: Uint8Array | undefined): Uint32Array {
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

/** Return the errors of the vertical axis in its scale, by point. */
function errorsOf({ points, layers }: PlotData): Float64Array | undefined {
    const { yErrors } = layers;
    return yErrors && points.v.map((value, point) => scaledError(value, points.rows[point]!, yErrors));
}

function binPoints(
    { u, v }: Points,
    members: Uint32Array,
    wanted: number,
    statistic: 'mean' | 'median',
): readonly BinnedValue[] {
    let [low, high] = [Infinity, -Infinity];
    for (const at of members) {
        if (u[at]! < low) low = u[at]!;
        if (u[at]! > high) high = u[at]!;
    }
    if (!(low <= high)) return [];
    return binValues(
        { x: u, y: v, members },
        binsBetween(low, high, wanted || suitableCount(members.length)),
        statistic,
    );
}

/** Return a number of bins with some rows in each. */
const suitableCount = (rows: number) => Math.max(4, Math.min(25, Math.round(rows / 8)));

function binsBetween(low: number, high: number, wanted: number): Bins {
    const width = high > low ? niceStep(high - low, wanted) : Math.abs(low) * 1e-3 || 1;
    const first = Math.floor(low / width + 1e-9);
    return { start: first * width, width, count: Math.floor(high / width + 1e-9) - first + 1 };
}

const contours = new WeakMap<PlotData, { key: string; found: readonly Contour[] }>();

/** Return the contours, from before if only the chosen rows have changed. */
function contoursOf({ data, view, box }: Arranged): readonly Contour[] {
    const { settings, points } = data;
    const { contours: levels, smoothing: factor } = settings.layers;
    if (levels === 'none' || !canHaveLayer(settings, 'contours')) return [];
    const key = JSON.stringify([view, box, levels, factor]);
    const known = contours.get(data);
    if (known?.key === key) return known.found;
    const found = findContours(points, view, box, { levels, factor });
    contours.set(data, { key, found });
    return found;
}
