/** A box or line drawn in a plot, as a condition for a query and as filters of the table. */

import type { PlanePosition } from '../../canvas/plotView';
import { quoteName } from '../../adql/adqlNames';
import type { Field, Filter } from '../../model/resultModel';
import { isGalacticColumn } from '../points/plotSettings';
import type { PlotData } from '../points/plotData';
import { degreesOf } from '../points/plotPoints';
import { thinLine } from '../points/pointSelection';
import { quantityAdql, AXES, type Axis } from '../points/plotSettings';
import { decimalsOf, outlineVertices } from '../../sky/skyOutline';

/** A drawn box or line, in scaled values. */
export interface Drawn {
    readonly tool: 'rectangle' | 'lasso';
    /** two corners of a rectangle, or a closed line */
    readonly positions: readonly PlanePosition[];
    /** scaled width of a pixel */
    readonly pixel: number;
}

export interface BoxChoice {
    /** the rows inside */
    readonly rows: Uint8Array;
    /** ADQL condition; '' if ADQL cannot express it */
    readonly condition: string;
    /** the sides of the condition follow the drawn line to half a pixel */
    readonly isNear: boolean;
    /** filters of the table; empty if an axis is the difference of two columns */
    readonly filters: readonly Filter[];
}

interface AxisRange {
    readonly axis: Axis;
    readonly min: number;
    readonly max: number;
}

/** Return the conditions of a drawn box or line; undefined if it is neither a box of columns nor an area of the sky. */
export function describeBox(
    { settings, centre }: Pick<PlotData, 'settings' | 'centre'>,
    fields: readonly Field[],
    drawn: Drawn,
    rows: Uint8Array,
): BoxChoice | undefined {
    if (settings.kind === 'sky') {
        const condition = skyCondition(settings, centre, fields, drawn);
        return condition ? { rows, condition, isNear: true, filters: [] } : undefined;
    }
    const folded = settings.kind === 'curve' && settings.period > 0;
    if (folded || drawn.tool === 'lasso') return undefined;
    const [one, other] = [drawn.positions[0]!, drawn.positions[1]!];
    const ranges = AXES[settings.kind].map((role, at): AxisRange => {
        const axis = settings.axes[role];
        const ends = [one[at as 0 | 1], other[at as 0 | 1]].map((end) => (axis.log ? 10 ** end : end));
        return { axis, min: Math.min(...ends), max: Math.max(...ends) };
    });
    return { rows, condition: conditionOf(ranges, fields), isNear: false, filters: filtersOf(ranges) };
}

/** Return that the position is in a polygon; '' without one, or if the columns are not in degrees. */
function skyCondition(
    { axes, frame }: PlotData['settings'],
    centre: number,
    fields: readonly Field[],
    { tool, positions, pixel }: Drawn,
): string {
    const [longitude, latitude] = [fields[axes.longitude.column], fields[axes.latitude.column]];
    if (!longitude || !latitude || degreesOf(longitude.unit ?? '') !== 1 || degreesOf(latitude.unit ?? '') !== 1)
        return '';
    const [one, other] = [positions[0]!, positions.at(-1)!];
    const box: PlanePosition[] = [one, [other[0], one[1]], other, [one[0], other[1]]];
    const line = tool === 'lasso' ? thinLine(positions, 4 * pixel) : box;
    const to = isGalacticColumn(longitude) ? 'galactic' : 'equatorial';
    const vertices = outlineVertices({ line, centre, frame, pixel }, to);
    if (!vertices) return '';
    const digits = decimalsOf(pixel);
    const numbers = vertices.flat().map((angle) => Number(angle.toFixed(digits)));
    const names = [longitude, latitude].map(({ name }) => quoteName(name));
    return `CONTAINS(POINT(${names.join(', ')}), POLYGON(${numbers.join(', ')})) = 1`;
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
