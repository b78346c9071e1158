/** A box drawn in a plot, as a condition for a query and as filters of the table. */

import type { Field, Filter } from '../model/resultModel';
import type { Place } from './pointSelection';
import { quantityAdql, AXES, type Axis, type PlotSettings } from './plotSettings';

export interface BoxChoice {
    /** the rows in the box */
    readonly rows: Uint8Array;
    /** ADQL condition; '' if ADQL cannot express it */
    readonly condition: string;
    /** filters of the table; empty if an axis is the difference of two columns */
    readonly filters: readonly Filter[];
}

interface AxisRange {
    readonly axis: Axis;
    readonly min: number;
    readonly max: number;
}

/** Return the conditions of a box with these scaled corners; undefined if the axes are not columns. */
export function describeBox(
    settings: PlotSettings,
    fields: readonly Field[],
    [one, other]: readonly [Place, Place],
    rows: Uint8Array,
): BoxChoice | undefined {
    const folded = settings.kind === 'curve' && settings.period > 0;
    if (settings.kind === 'sky' || folded) return undefined;
    const ranges = AXES[settings.kind].map((role, at): AxisRange => {
        const axis = settings.axes[role];
        const ends = [one[at as 0 | 1], other[at as 0 | 1]].map((end) => (axis.log ? 10 ** end : end));
        return { axis, min: Math.min(...ends), max: Math.max(...ends) };
    });
    return { rows, condition: conditionOf(ranges, fields), filters: filtersOf(ranges) };
}

/** ADQL does not compare instants and booleans with numbers. */
function conditionOf(ranges: readonly AxisRange[], fields: readonly Field[]): string {
    if (ranges.some(({ axis }) => fields[axis.column]?.kind !== 'number')) return '';
    return ranges.map(({ axis, min, max }) => `${quantityAdql(fields, axis)} BETWEEN ${min} AND ${max}`).join(' AND ');
}

function filtersOf(ranges: readonly AxisRange[]): Filter[] {
    if (ranges.some(({ axis }) => axis.minus >= 0)) return [];
    return ranges.map(({ axis, min, max }) => ({ column: axis.column, min, max }));
}
