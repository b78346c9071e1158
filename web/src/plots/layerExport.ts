/** Exports of what layers tell: values in bins, a fitted line. */

import type { Field } from '../model/resultModel';
import { fitNames } from './fitText';
import type { LayerSummary } from './layerSummary';
import { joinLines, unscaleValue } from './plotExport';
import { AXES, quantityName, type Axis } from './plotSettings';

/** Return the lines of CSV of the values in bins. */
export function binnedLines(fields: readonly Field[], { binned, settings }: LayerSummary): string[] {
    const [x, y] = AXES[settings.kind].map((role) => settings.axes[role]) as [Axis, Axis];
    const [across, up] = [x, y].map((axis) => quantityName(fields, axis)) as [string, string];
    const logX = x.log && settings.kind !== 'curve';
    const { statistic } = settings.layers;
    const spread = statistic === 'mean' ? ['minus_deviation', 'plus_deviation'] : ['16_percent', '84_percent'];
    const head = [
        `${across}_from`,
        `${across}_to`,
        'rows',
        `${up}_${statistic}`,
        ...spread.map((end) => `${up}_${end}`),
    ];
    const lines = binned.map(({ from, to, rows, middle, low, high }) => [
        unscaleValue(from, logX),
        unscaleValue(to, logX),
        rows,
        ...[middle, low, high].map((value) => unscaleValue(value, y.log)),
    ]);
    return joinLines([head, ...lines]);
}

/** Return the lines of CSV of a fitted line, in the scales of its axes. */
export function fitLines(fields: readonly Field[], { fit, settings, basis, weighted }: LayerSummary): string[] {
    if (!fit) return [];
    const [x, y] = fitNames(fields, settings);
    return joinLines([
        ['quantity', 'value', 'standard_error'],
        ['x', x, ''],
        ['y', y, ''],
        ['intercept', fit.intercept, fit.interceptError],
        ['slope', fit.slope, fit.slopeError],
        ['covariance', fit.covariance, ''],
        ['rms', fit.rms, ''],
        ['rows', fit.count, ''],
        ['rows_of', basis, ''],
        ...(weighted ? [['reduced_chi_square', fit.chiSquare!, '']] : []),
    ]);
}
