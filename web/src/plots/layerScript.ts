/** Python that draws layers of a plot with matplotlib: error bars, values in bins, a fitted line. */

import { kindColours } from '../canvas/colourRamps';
import type { View } from '../canvas/plotView';
import { NO_COLUMN } from '../layers/layerSettings';
import type { Field } from '../model/resultModel';
import { text } from '../text';
import { errorColumns } from './defaultSettings';
import type { LayerSummary } from './layerSummary';
import { canHaveLayer } from './offeredLayers';
import { AXES, type AxisRole, type PlotSettings } from './plotSettings';
import { hex, py, pyNumber, readColumn } from './pythonParts';

/** Return the values of a variable where a mask is true; twice if the plot shows two periods. */
export type Masked = (name: string, mask: string) => string;

interface Errors {
    readonly axis: 'x' | 'y';
    readonly columns: readonly number[];
    /** of the upper half; -1: as below */
    readonly upper: number;
}

const texts = text.plots.layers;

/** Return the columns of the error bars. */
export function scriptErrors(fields: readonly Field[], settings: PlotSettings): Errors[] {
    const { layers, kind } = settings;
    const errorsOf = (axis: Errors['axis'], role: AxisRole, lower: number, upper: number): Errors[] => {
        const columns = errorColumns(fields, settings.axes[role], lower);
        // found ones are symmetric
        return columns.length ? [{ axis, columns, upper: lower >= 0 && fields[upper] ? upper : NO_COLUMN }] : [];
    };
    if (kind === 'curve') return errorsOf('y', 'flux', settings.error, NO_COLUMN);
    if (!canHaveLayer(settings, 'errors')) return [];
    return [
        ...errorsOf('x', 'x', layers.xError, layers.xErrorUp),
        ...errorsOf('y', 'y', layers.yError, layers.yErrorUp),
    ];
}

/** Return the lines that read half error bars; those of a difference are added in quadrature. */
export function readErrors(fields: readonly Field[], errors: readonly Errors[]): string[] {
    const read = (column: number) => readColumn(fields, column);
    return errors.flatMap(({ axis, columns: [one, other], upper }) => [
        `${axis}_low = ${other === undefined ? `np.abs(${read(one!)})` : `np.hypot(${read(one!)}, ${read(other)})`}`,
        `${axis}_high = ${upper >= 0 ? `np.abs(${read(upper)})` : `${axis}_low`}`,
    ]);
}

/** Return the lines that draw error bars, where there are any. */
export function drawErrors(errors: readonly Errors[], masked: Masked): string[] {
    return errors.flatMap(({ axis }) => [
        `barred = good & (${axis}_low + ${axis}_high > 0)`,
        `ax.errorbar(${masked('x', 'barred')}, ${masked('y', 'barred')}, ${axis}err=[${masked(`${axis}_low`, 'barred')}, ${masked(`${axis}_high`, 'barred')}], fmt="none", ecolor="0.6", elinewidth=0.6, zorder=0)`,
    ]);
}

/** Return the lines that draw line and means of the rows in view, in the scales of the axes as the page does. */
export function drawSummary(
    { settings, fit, binned, weighted }: LayerSummary,
    view: View,
    masked: Masked,
    hasChosen: boolean,
): string[] {
    if (!fit && !binned.length) return [];
    const [logX, logY] = scalesOf(settings);
    const scaled = (axis: 'x' | 'y', log: boolean) =>
        log ? `np.log10(${masked(axis, 'good')})` : masked(axis, 'good');
    const between = (name: string, one: number, other: number) =>
        `(${name} >= ${pyNumber(Math.min(one, other))}) & (${name} <= ${pyNumber(Math.max(one, other))})`;
    return [
        ...(hasChosen ? [`# ${texts.ofChosen}`] : []),
        `u, v = ${scaled('x', logX)}, ${scaled('y', logY)}`,
        `inside = ${between('u', view.u0, view.u1)} & ${between('v', view.v0, view.v1)}`,
        'u, v = u[inside], v[inside]',
        ...(fit ? drawFit(weighted, view, [logX, logY]) : []),
        ...drawBins(binned, settings.layers.statistic, [logX, logY]),
    ];
}

type Logs = readonly [x: boolean, y: boolean];

function scalesOf({ kind, axes }: PlotSettings): Logs {
    const [x, y] = AXES[kind].map((role) => axes[role].log);
    return [x === true && kind !== 'curve', y === true];
}

/** Return the expression for a value on its axis, from a logarithm if that is what is shown. */
const plain = (name: string, log: boolean): string => (log ? `10 ** (${name})` : name);

function drawFit(weighted: boolean, view: View, [logX, logY]: Logs): string[] {
    const colour = `color=${py(hex(kindColours(false)[3]!))}`;
    const sigma = `(y_low + y_high)[good][inside] / 2${logY ? ' / (10**v * np.log(10))' : ''}`;
    const fitted = weighted ? 'fitted' : ':';
    return [
        // dates are far from 0, where the fit would lose digits
        'middle = u.mean()',
        ...(weighted ? [`sigma = ${sigma}`, 'fitted = np.isfinite(sigma) & (sigma > 0)'] : []),
        `(slope, start), covariance = np.polyfit(u[${fitted}] - middle, v[${fitted}], 1, ${weighted ? 'w=1 / sigma[fitted], cov="unscaled"' : 'cov=True'})`,
        `places = np.linspace(${pyNumber(view.u0)}, ${pyNumber(view.u1)}, 65)`,
        'away = places - middle',
        'line = start + slope * away',
        'error = np.sqrt(covariance[0, 0] * away**2 + 2 * covariance[0, 1] * away + covariance[1, 1])',
        `across = ${plain('places', logX)}`,
        `ax.plot(across, ${plain('line', logY)}, ${colour}, zorder=3)`,
        `ax.fill_between(across, ${plain('line - error', logY)}, ${plain('line + error', logY)}, ${colour}, alpha=0.2, linewidth=0, zorder=3)`,
    ];
}

function drawBins(
    binned: LayerSummary['binned'],
    statistic: PlotSettings['layers']['statistic'],
    [logX, logY]: Logs,
): string[] {
    const first = binned[0];
    if (!first) return [];
    // all digits: values may be on edges
    const [start, width] = [first.from, first.to - first.from];
    const spread =
        statistic === 'mean'
            ? [
                  '    deviation = own.std(ddof=1) if len(own) > 1 else np.nan',
                  '    found = [own.mean(), own.mean() - deviation, own.mean() + deviation]',
              ]
            : [
                  '    found = np.percentile(own, [50, 15.8655253931457, 84.1344746068543])',
                  '    if len(own) == 1:',
                  '        found[1:] = np.nan',
              ];
    const style = 'color="0.1", zorder=4';
    return [
        `bins = np.floor((u - ${start}) / ${width}).astype(int)`,
        'binned = []',
        'for bin in np.unique(bins):',
        '    own = v[bins == bin]',
        ...spread,
        `    binned.append([${start} + bin * ${width}, *found])`,
        'left, middles, lows, highs = np.array(binned).T',
        `centres = ${plain(`left + ${width} / 2`, logX)}`,
        `ax.hlines(${plain('middles', logY)}, ${plain('left', logX)}, ${plain(`left + ${width}`, logX)}, ${style})`,
        `ax.vlines(centres, ${plain('lows', logY)}, ${plain('highs', logY)}, ${style})`,
        `ax.plot(centres, ${plain('middles', logY)}, "s", markersize=4, ${style})`,
    ];
}

/** Return a comment that names the layers which scripts do not draw. */
export function nameOthers(settings: PlotSettings): string[] {
    const { connected, contours, marginals, overlays } = settings.layers;
    const names = [
        ...(connected && canHaveLayer(settings, 'connected') ? [texts.connected] : []),
        ...(contours !== 'none' && canHaveLayer(settings, 'contours') ? [texts.contours] : []),
        ...(marginals && canHaveLayer(settings, 'marginals') ? [texts.marginals] : []),
        ...(overlays.length && canHaveLayer(settings, 'overlays') ? [texts.overlays] : []),
    ];
    return names.length ? [`# ${texts.notInScript(names.join(', ').toLowerCase())}`] : [];
}
