/** The settings of a plot as plain values. */

import { quoteName } from '../adql/adqlNames';
import { formatUnit } from '../text/unitFormat';
import type { moveColumns } from '../model/columnMoves';
import type { Field } from '../model/resultModel';
import type { Frame } from '../sky/skyFrames';

export const KINDS = ['scatter', 'density', 'histogram', 'sky', 'curve'] as const;
export type PlotKind = (typeof KINDS)[number];

/** What an axis shows: a column or the difference of two; -1: none. */
export interface Quantity {
    readonly column: number;
    readonly minus: number;
}

export interface Axis extends Quantity {
    readonly log: boolean;
    /** undefined: the default, reversed for magnitudes */
    readonly reversed: boolean | undefined;
}

export const ROLES = ['x', 'y', 'value', 'longitude', 'latitude', 'time', 'flux'] as const;
export type AxisRole = (typeof ROLES)[number];

/** The axes of each kind of plot: horizontal, vertical. */
export const AXES: Record<PlotKind, readonly AxisRole[]> = {
    scatter: ['x', 'y'],
    density: ['x', 'y'],
    histogram: ['value'],
    sky: ['longitude', 'latitude'],
    curve: ['time', 'flux'],
};

export interface PlotSettings {
    readonly kind: PlotKind;
    readonly axes: Readonly<Record<AxisRole, Axis>>;
    /** columns, -1 for none */
    readonly colour: number;
    readonly band: number;
    readonly error: number;
    readonly frame: Frame;
    /** longitude in the middle of the sky, degrees; undefined: chosen from the points */
    readonly centre: number | undefined;
    readonly skyStyle: 'points' | 'density';
    /** size of bins, from 0.5 (finer) to 2 (coarser) */
    readonly coarseness: number;
    /** bins of the histogram; 0: chosen from the data */
    readonly bins: number;
    readonly logCounts: boolean;
    /** factor on the default size of points */
    readonly size: number;
    /** period to fold a light curve by, in days; 0: not folded */
    readonly period: number;
    /** time of phase 0, as MJD; undefined: 0 of the column */
    readonly phaseZero: number | undefined;
    /** calendar dates on the time axis */
    readonly calendar: boolean;
}

export const NO_AXIS: Axis = { column: -1, minus: -1, log: false, reversed: undefined };

/** Whether a column can be on an axis. */
export const isPlottable = (field: Field): boolean =>
    field.kind === 'number' || field.kind === 'time' || field.kind === 'boolean';

/** Return the name of a quantity: "bt_mag − vt_mag". */
export function quantityName(fields: readonly Field[], { column, minus }: Quantity): string {
    const name = fields[column]?.name ?? '';
    return minus >= 0 ? `${name} − ${fields[minus]?.name ?? ''}` : name;
}

/** Return the unit of a quantity; '' for a difference of two units. Instants are in days of MJD. */
export function quantityUnit(fields: readonly Field[], { column, minus }: Quantity): string {
    const unit = (at: number) => (fields[at]?.kind === 'time' ? 'd' : (fields[at]?.unit ?? ''));
    return minus >= 0 && unit(minus) !== unit(column) ? '' : formatUnit(unit(column));
}

/** Return the label of an axis: name and unit, or MJD. */
export function quantityLabel(fields: readonly Field[], quantity: Quantity): string {
    const name = quantityName(fields, quantity);
    if (fields[quantity.column]?.kind === 'time' && quantity.minus < 0) return `${name} [MJD]`;
    const unit = quantityUnit(fields, quantity);
    return unit ? `${name} [${unit}]` : name;
}

/** Magnitudes are reversed, their differences (colours) are not. */
export function isReversed(fields: readonly Field[], axis: Axis): boolean {
    return axis.reversed ?? (axis.minus < 0 && isMagnitude(fields[axis.column]));
}

/** Whether a column is a magnitude, not its error or a colour index. */
export function isMagnitude(field: Field | undefined): boolean {
    const ucd = field?.ucd ?? '';
    if (/^(stat|arith)\./.test(ucd)) return false;
    return /(^|;)phot\.mag/.test(ucd) || (field?.unit === 'mag' && !ucd && !/colou?r/i.test(field.name));
}

/** Return a quantity as ADQL: "bt_mag - vt_mag". */
export function quantityAdql(fields: readonly Field[], { column, minus }: Quantity): string {
    const first = quoteName(fields[column]?.name ?? '');
    return minus >= 0 ? `${first} - ${quoteName(fields[minus]?.name ?? '')}` : first;
}

/** Return settings whose columns have moved; those that are gone are none. */
export function moveSettings(settings: PlotSettings, moved: ReturnType<typeof moveColumns>): PlotSettings {
    const move = (column: number) => moved({ column })?.column ?? -1;
    const axes = Object.fromEntries(
        ROLES.map((role) => {
            const axis = settings.axes[role];
            return [role, { ...axis, column: move(axis.column), minus: move(axis.minus) }];
        }),
    ) as Record<AxisRole, Axis>;
    const [colour, band, error] = [move(settings.colour), move(settings.band), move(settings.error)];
    return { ...settings, axes, colour, band, error };
}
