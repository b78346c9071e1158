/** Values as the table shows them: numbers of a column with their points below each other, angles in hours on demand. */

import type { Cell, Field } from '../model/resultModel';

/** How the numbers of a column are shown: digits behind the point; `hours`/`degrees`: sexagesimal. */
export type Style =
    | { readonly type: 'plain' }
    | { readonly type: 'decimals'; readonly decimals: number }
    | { readonly type: 'hours' | 'degrees' };

const PLAIN: Style = { type: 'plain' };
/** Digits behind the point that a float or a double is shown with at most. */
const MAX_DECIMALS = { float: 5, double: 7 } as const;

/** How a column is shown, from some of its values. */
export function styleOf(field: Field, sample: readonly Cell[]): Style {
    if (field.datatype !== 'float' && field.datatype !== 'double') return PLAIN;
    if (field.kind !== 'number') return PLAIN;
    const decimals = sample.map((value) => (typeof value === 'number' && isPlain(value) ? decimalsOf(value) : 0));
    return { type: 'decimals', decimals: Math.min(Math.max(0, ...decimals), MAX_DECIMALS[field.datatype]) };
}

const isPlain = (value: number) => Number.isFinite(value) && !String(value).includes('e');

const decimalsOf = (value: number) => String(value).split('.')[1]?.length ?? 0;

/** Which sexagesimal form suits a column; undefined: none. */
export function sexagesimalOf(field: Field): 'hours' | 'degrees' | undefined {
    if (field.kind !== 'number' || field.unit !== 'deg' || !field.ucd) return undefined;
    if (/^pos\.eq\.ra(;|$)/i.test(field.ucd)) return 'hours';
    return /^pos\.eq\.dec(;|$)/i.test(field.ucd) ? 'degrees' : undefined;
}

/** A value as text; NULL is told apart by the caller. */
export function formatCell(value: Cell, style: Style): string {
    if (value === null) return 'NULL';
    if (typeof value !== 'number' || style.type === 'plain' || !Number.isFinite(value)) return String(value);
    if (style.type !== 'decimals') return formatSexagesimal(value, style.type);
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e15 || size < 10 ** (2 - style.decimals))) return smallNumber(value, style.decimals);
    return value.toFixed(style.decimals);
}

/** Values that would lose nearly all their digits: with an exponent, unless they have no more digits than fit. */
function smallNumber(value: number, decimals: number): string {
    const fixed = value.toFixed(decimals);
    if (Number(fixed) === value) return fixed;
    const [short, exact] = [value.toExponential(5), value.toExponential()];
    return exact.length < short.length ? exact : short;
}

/** "03:08:27.972" of degrees, in hours to milliseconds of time, or "+02:06:30.90" to hundredths of an arcsecond. */
export function formatSexagesimal(degrees: number, type: 'hours' | 'degrees'): string {
    const places = type === 'hours' ? 3 : 2;
    const unit = 10 ** places;
    const turn = type === 'hours' ? 24 * 3600 * unit : Infinity;
    const angle = type === 'hours' ? (((degrees % 360) + 360) % 360) / 15 : Math.abs(degrees);
    const all = Math.round(angle * 3600 * unit) % turn;
    const seconds = (all % (60 * unit)) / unit;
    const [minutes, whole] = [Math.floor(all / (60 * unit)) % 60, Math.floor(all / (3600 * unit))];
    const sign = type === 'hours' ? '' : degrees < 0 ? '-' : '+';
    const two = (value: number) => String(value).padStart(2, '0');
    return `${sign}${two(whole)}:${two(minutes)}:${seconds.toFixed(places).padStart(places + 3, '0')}`;
}

/** Whether a text is an address to follow. */
export function isLink(value: Cell): value is string {
    return typeof value === 'string' && /^https?:\/\/[^\s<>"]+$/i.test(value) && URL.canParse(value);
}
