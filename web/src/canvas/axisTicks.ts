/** Ticks of an axis: round numbers, powers of ten, instants. */

import { scaleLinear, scaleLog, scaleUtc } from 'd3-scale';

export interface Tick {
    /** scaled value (the logarithm on a log axis) */
    readonly at: number;
    /** '' for minor ticks */
    readonly label: string;
}

/** Return ticks at round numbers. */
export function linearTicks(from: number, to: number, parts: number): Tick[] {
    const span = Math.abs(to - from);
    if (!(span > 0) || !Number.isFinite(span)) return [];
    const scale = scaleLinear().domain(outwards(from, to));
    const values = scale.ticks(parts);
    const step = values.length > 1 ? values[1]! - values[0]! : span;
    const write = scale.tickFormat(parts, 'f');
    const large = Math.max(Math.abs(from), Math.abs(to));
    const power = Math.floor(Math.log10(large));
    const isScientific = (power >= 7 && step >= 1e4) || power < -4;
    return values.map((at) => ({ at, label: isScientific ? scientificLabel(at, step, power) : write(at) }));
}

/** Return two ends in ascending order, widened so that rounding does not lose a tick at an end. */
function outwards(from: number, to: number): [number, number] {
    const room = 1e-9 * Math.abs(to - from);
    return [Math.min(from, to) - room, Math.max(from, to) + room];
}

/** Return ticks of a log axis, whose ends are logarithms: powers of ten, or round numbers within a decade. */
export function logTicks(from: number, to: number, parts: number): Tick[] {
    const span = Math.abs(to - from);
    if (!(span > 0) || !Number.isFinite(span)) return [];
    if (span < 1)
        return linearTicks(10 ** from, 10 ** to, parts).flatMap(({ at, label }) =>
            at > 0 ? [{ at: Math.log10(at), label }] : [],
        );
    const [low, high] = outwards(from, to);
    const values = scaleLog().domain([10 ** low, 10 ** high]).ticks(Math.max(2, parts)); // prettier-ignore
    return values.map((value) => ({ at: Math.log10(value), label: logLabel(value, span < 2.5) }));
}

/** Label powers of ten, and with `fine` also their double and fivefold. */
function logLabel(value: number, fine: boolean): string {
    const power = Math.round(Math.log10(value));
    const digit = Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9));
    if (digit === 1) return powerLabel(power);
    return fine && (digit === 2 || digit === 5) ? shortNumber(value) : '';
}

const SUPERSCRIPTS: Record<string, string> = Object.fromEntries(
    [...'0123456789-'].map((sign, k) => [sign, '⁰¹²³⁴⁵⁶⁷⁸⁹⁻'[k]!]),
);

const superscriptOf = (power: number) => [...String(power)].map((sign) => SUPERSCRIPTS[sign]).join('');

/** Format a power of ten, as a plain number while that is short. */
export function powerLabel(power: number): string {
    return Math.abs(power) <= 3 ? String(Number((10 ** power).toPrecision(1))) : `10${superscriptOf(power)}`;
}

function scientificLabel(value: number, step: number, power: number): string {
    const mantissa = clearZero(value, step) / 10 ** power;
    return mantissa === 0
        ? '0'
        : `${replaceMinus(mantissa.toFixed(Math.min(12, digitsOf(step / 10 ** power))))}×10${superscriptOf(power)}`;
}

const clearZero = (value: number, step: number) => (Math.abs(value) < step / 2 ? 0 : value);
const digitsOf = (step: number) => Math.max(0, Math.min(15, -Math.floor(Math.log10(step) + 1e-9)));
const replaceMinus = (number: string) => number.replace('-', '−');

/** Format a value: seven digits, powers of ten for very large or small values. */
export function shortNumber(value: number): string {
    if (!Number.isFinite(value)) return String(value);
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e9 || size < 1e-4)) {
        const power = Math.floor(Math.log10(size));
        const mantissa = replaceMinus(String(Number((value / 10 ** power).toPrecision(5))));
        return `${mantissa}×10${superscriptOf(power)}`;
    }
    return replaceMinus(String(Number(value.toPrecision(size >= 1e5 ? 9 : 7))));
}

/** Modified Julian Date of 1970-01-01T00:00:00. */
const UNIX_EPOCH = 40587;
const DAY_MS = 86_400_000;
/** Format MJD as ISO 8601, to the second or millisecond; '' beyond the range of JavaScript dates. */
export function mjdToIso(mjd: number, to: 's' | 'ms' = 's'): string {
    const at = new Date(Math.round((mjd - UNIX_EPOCH) * DAY_MS));
    return Number.isNaN(at.getTime()) ? '' : at.toISOString().slice(0, to === 's' ? 19 : 23);
}

/** Return ticks of an MJD axis at round years, months, days, hours, minutes or seconds. */
export function timeTicks(from: number, to: number, parts: number): Tick[] {
    const [low, high] = outwards(from, to).map((mjd) => new Date((mjd - UNIX_EPOCH) * DAY_MS)) as [Date, Date];
    const isFine = Math.abs(to - from) * DAY_MS < 500 * Math.max(1, parts);
    if (isFine || Number.isNaN(low.getTime()) || Number.isNaN(high.getTime())) return linearTicks(from, to, parts);
    const dates = scaleUtc().domain([low, high]).ticks(parts);
    const step = dates.length > 1 ? dates[1]!.getTime() - dates[0]!.getTime() : DAY_MS;
    return dates.map((date) => ({
        at: date.getTime() / DAY_MS + UNIX_EPOCH,
        label: dateLabel(date.toISOString(), step),
    }));
}

/** Return the part of ISO 8601 that differs between ticks. */
function dateLabel(iso: string, step: number): string {
    const [date, time] = iso.split('T') as [string, string];
    if (step >= 365 * DAY_MS) return date.slice(0, -6);
    if (step >= 28 * DAY_MS) return date.slice(0, -3);
    if (step >= DAY_MS) return date;
    return step >= 60_000 ? `${date.slice(-5)} ${time.slice(0, 5)}` : time.slice(0, 8);
}
