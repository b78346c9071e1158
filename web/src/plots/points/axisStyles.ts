/** The labels and ticks of the axes of a plot. */

import type { AxisStyle } from '../../canvas/plotAxes';
import type { Field } from '../../model/resultModel';
import { plotTexts } from '../../text/plotTexts';
import type { Scene } from './plotScene';
import { quantityLabel, type Axis, type AxisRole } from './plotSettings';

/** Return the labels and ticks of the axes of a plot other than the sky. */
export function axisStyles({ data, fields }: Pick<Scene, 'data' | 'fields'>): [AxisStyle, AxisStyle] {
    const { settings } = data;
    const style = (role: AxisRole): AxisStyle => plainStyle(fields, settings.axes[role], settings.calendar);
    if (settings.kind === 'histogram') {
        return [style('value'), { label: plotTexts.counts, log: settings.logCounts }];
    }
    if (settings.kind !== 'curve') return [style('x'), style('y')];
    if (settings.period > 0)
        return [{ label: plotTexts.phase(settings.period, settings.phaseZero), log: false }, style('flux')];
    const { epoch } = data;
    if (!settings.calendar || epoch === undefined)
        return [{ ...style('time'), log: false, epoch: undefined }, style('flux')];
    return [{ label: fields[settings.axes.time.column]?.name ?? '', log: false, epoch }, style('flux')];
}

function plainStyle(fields: readonly Field[], axis: Axis, calendar: boolean): AxisStyle {
    const instants = calendar && fields[axis.column]?.kind === 'time' && axis.minus < 0 && !axis.log;
    if (instants) return { label: fields[axis.column]!.name, log: false, epoch: 0 };
    return { label: quantityLabel(fields, axis), log: axis.log };
}
