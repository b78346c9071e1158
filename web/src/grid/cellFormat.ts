/** Formats values for the table: aligned decimals, sexagesimal angles on demand. */

import type { Cell, Field } from '../model/resultModel';

/** How a column's numbers are formatted; `hours`/`degrees`: sexagesimal. */
export type Style =
    | { readonly type: 'plain' }
    | { readonly type: 'decimals'; readonly decimals: number }
    | { readonly type: 'hours' | 'degrees' };

const PLAIN: Style = { type: 'plain' };
/** Most decimals of a float and a double. */
const MAX_DECIMALS = { float: 5, double: 7 } as const;

/** Choose the style of a column from sample values. */
export function styleOf(field: Field, sample: readonly Cell[]): Style {
    if (field.datatype !== 'float' && field.datatype !== 'double') return PLAIN;
    if (field.kind !== 'number') return PLAIN;
    const decimals = sample.map((value) => (typeof value === 'number' && isPlain(value) ? decimalsOf(value) : 0));
    return { type: 'decimals', decimals: Math.min(Math.max(0, ...decimals), MAX_DECIMALS[field.datatype]) };
}

const isPlain = (value: number) => Number.isFinite(value) && !String(value).includes('e');

const decimalsOf = (value: number) => String(value).split('.')[1]?.length ?? 0;

/** Return the sexagesimal form of a column; undefined if it has none. */
export function sexagesimalOf(field: Field): 'hours' | 'degrees' | undefined {
    if (field.kind !== 'number' || field.unit !== 'deg' || !field.ucd) return undefined;
    if (/^pos\.eq\.ra(;|$)/i.test(field.ucd)) return 'hours';
    return /^pos\.eq\.dec(;|$)/i.test(field.ucd) ? 'degrees' : undefined;
}

/** Format a value; the caller marks NULL. */
export function formatCell(value: Cell, style: Style): string {
    if (value === null) return 'NULL';
    if (typeof value !== 'number' || style.type === 'plain' || !Number.isFinite(value)) return String(value);
    if (style.type !== 'decimals') return formatSexagesimal(value, style.type);
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e15 || size < 10 ** (2 - style.decimals))) return smallNumber(value, style.decimals);
    return value.toFixed(style.decimals);
}

/** Format a number that would lose nearly all digits with an exponent, unless it is exact without. */
function smallNumber(value: number, decimals: number): string {
    const fixed = value.toFixed(decimals);
    if (Number(fixed) === value) return fixed;
    const [short, exact] = [value.toExponential(5), value.toExponential()];
    return exact.length < short.length ? exact : short;
}

/** Format degrees as "03:08:27.972" (hours, to milliseconds) or "+02:06:30.90" (degrees, to 0.01 arcsec). */
export function formatSexagesimal(degrees: number, type: 'hours' | 'degrees'): string {
    const decimals = type === 'hours' ? 3 : 2;
    const unit = 10 ** decimals;
    const turn = type === 'hours' ? 24 * 3600 * unit : Infinity;
    const angle = type === 'hours' ? (((degrees % 360) + 360) % 360) / 15 : Math.abs(degrees);
    const all = Math.round(angle * 3600 * unit) % turn;
    const seconds = (all % (60 * unit)) / unit;
    const [minutes, whole] = [Math.floor(all / (60 * unit)) % 60, Math.floor(all / (3600 * unit))];
    const sign = type === 'hours' ? '' : degrees < 0 ? '-' : '+';
    const two = (value: number) => String(value).padStart(2, '0');
    return `${sign}${two(whole)}:${two(minutes)}:${seconds.toFixed(decimals).padStart(decimals + 3, '0')}`;
}
