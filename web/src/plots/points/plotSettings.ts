/** The settings of a plot as plain values. */

import { quoteName } from '../../adql/adqlNames';
import type { LayerSettings } from './layerSettings';
import { formatUnit } from '../../text/unitFormat';
import type { Field } from '../../model/resultModel';
import type { Frame } from '../../sky/skyFrames';

export const KINDS = ['scatter', 'density', 'histogram', 'sky', 'curve', 'corner', 'space'] as const;
export type PlotKind = (typeof KINDS)[number];

/** Whether a plot has a plane of two axes: not a corner plot, not one in space. */
export const isPlane = (kind: PlotKind): boolean => kind !== 'corner' && kind !== 'space';

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

export type AxisRole = 'x' | 'y' | 'value' | 'longitude' | 'latitude' | 'time' | 'flux';

/** The axes of each kind of plot: horizontal, vertical. Corner plots and plots in space have their own settings. */
export const AXES: Record<PlotKind, readonly AxisRole[]> = {
    scatter: ['x', 'y'],
    density: ['x', 'y'],
    histogram: ['value'],
    sky: ['longitude', 'latitude'],
    curve: ['time', 'flux'],
    corner: [],
    space: [],
};

/** Return both axes of a plot in the scales shown: the time of a light curve is never logarithmic. */
export function planeAxes({ kind, axes }: Pick<PlotSettings, 'kind' | 'axes'>): readonly [Axis, Axis] {
    const [x, y] = AXES[kind].map((role) => axes[role]) as [Axis, Axis];
    return [kind === 'curve' ? { ...x, log: false } : x, y];
}

/** Quantities in a corner plot. */
export const MAX_CORNER = 5;

export interface CornerSettings {
    /** two to five */
    readonly axes: readonly Axis[];
    /** leave out the outermost values, so that outliers do not flatten the rest */
    readonly trimmed: boolean;
}

export interface SpaceSettings {
    /** three columns; or positions with a distance, without one on the unit sphere */
    readonly by: 'columns' | 'positions';
    readonly axes: readonly [Axis, Axis, Axis];
    /** column of distances or parallaxes; -1: the unit sphere */
    readonly distance: number;
    /** column that sizes the points; -1: none */
    readonly sizes: number;
    readonly trimmed: boolean;
}

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
    readonly layers: LayerSettings;
    readonly corner: CornerSettings;
    readonly space: SpaceSettings;
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
    if (ucd) return /(^|;)phot\.mag/.test(ucd);
    if (!field?.unit)
        return (
            /^([a-z]|.*_)?mag(nitude)?$/i.test(field?.name ?? '') && !/^(e|err|error|d|sigma)_/i.test(field?.name ?? '')
        );
    return field.unit === 'mag' && !/colou?r/i.test(field.name);
}

/** Whether a longitude is galactic. */
export const isGalactic = (field: Field | undefined): boolean => (field?.ucd ?? '').startsWith('pos.galactic');

/** Whether the longitudes of a column are galactic, by its UCD or name. */
export const isGalacticColumn = (field: Field | undefined): boolean =>
    isGalactic(field) || /^(l|glon)$/i.test(field?.name ?? '');

/** Return a quantity as ADQL: "bt_mag - vt_mag". */
export function quantityAdql(fields: readonly Field[], { column, minus }: Quantity): string {
    const first = quoteName(fields[column]?.name ?? '');
    return minus >= 0 ? `${first} - ${quoteName(fields[minus]?.name ?? '')}` : first;
}

/** Whether two settings have the same axes. */
export function isSamePlane(one: PlotSettings, other: PlotSettings): boolean {
    const axesOf = ({ kind, axes, period, phaseZero }: PlotSettings) =>
        JSON.stringify([AXES[kind], AXES[kind].map((role) => axes[role]), period, phaseZero]);
    return axesOf(one) === axesOf(other);
}
