/** A fitted line in words and numbers. */

import { shortNumber } from '../../canvas/axisTicks';
import { lineAt, originOf } from '../../statistics/lineFit';
import { formatMeasured } from '../../statistics/measuredNumber';
import type { Field } from '../../model/resultModel';
import { plotTexts } from '../../text/plotTexts';
import type { LayerSummary } from './layer';
import { planeAxes, quantityName, type Axis, type PlotSettings } from '../points/plotSettings';

const texts = plotTexts.layers;

/** Return the equation of the line and the rows that it fits; nothing without a line. */
export function describeFit(
    fields: readonly Field[],
    summary: LayerSummary,
): { equation: string; of: string } | undefined {
    const { fit, settings, basis, weighted } = summary;
    if (!fit) return summary.unfit ? { equation: '', of: texts.unfit } : undefined;
    const [x, y] = fitNames(fields, settings);
    const origin = originOf(fit);
    const start = lineAt(fit, origin);
    const intercept = formatMeasured(start.y, start.error);
    const slope = formatMeasured(fit.slope, fit.slopeError);
    return {
        equation: `${y} = ${inBrackets(intercept)} + ${inBrackets(slope)} · ${origin === 0 ? x : `(${x} ${origin > 0 ? '−' : '+'} ${shortNumber(Math.abs(origin))})`}`,
        of: [
            texts.rms(shortNumber(Number(fit.rms.toPrecision(3)))),
            texts.rowsOf(fit.count, basis),
            ...(weighted ? [texts.weighted, texts.chiSquare(shortNumber(Number(fit.chiSquare!.toPrecision(3))))] : []),
        ].join(' · '),
    };
}

const inBrackets = (measured: string) =>
    measured.endsWith(')') || measured.startsWith('(') ? measured : `(${measured})`;

/** Return the names of the fitted quantities: logarithms on log axes. */
export function fitNames(fields: readonly Field[], settings: PlotSettings): [string, string] {
    const [x, y] = planeAxes(settings);
    const name = (axis: Axis) => {
        const dates = fields[axis.column]?.kind === 'time' && axis.minus < 0;
        const plain = quantityName(fields, axis) + (dates ? ' [MJD]' : '');
        return axis.log ? `log₁₀ ${axis.minus >= 0 ? `(${plain})` : plain}` : axis.minus >= 0 ? `(${plain})` : plain;
    };
    return [name(x), name(y)];
}
