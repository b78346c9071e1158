/** Ticks of an axis: round numbers, powers of ten, instants. */

export interface Tick {
    /** scaled value (the logarithm on a log axis) */
    readonly at: number;
    /** '' for minor ticks */
    readonly label: string;
}

/** Return the step of 1, 2 or 5 times a power of ten that divides a span into about `parts` parts. */
export function niceStep(span: number, parts: number): number {
    const rough = span / Math.max(1, parts);
    const power = 10 ** Math.floor(Math.log10(rough));
    const factor = [1, 2, 5, 10].find((step) => step * power >= rough * 0.7) ?? 10;
    return factor * power;
}

/** Return the multiples of a step between two ends in any order; at most 1,000. */
export function multiplesWithin(from: number, to: number, step: number): number[] {
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    const first = Math.ceil(low / step - 1e-9);
    const count = Math.min(1000, Math.floor(high / step + 1e-9) - first + 1);
    return Number.isFinite(count) && count > 0 ? Array.from({ length: count }, (_, k) => (first + k) * step) : [];
}

/** Return ticks at round numbers. */
export function linearTicks(from: number, to: number, parts: number): Tick[] {
    const span = Math.abs(to - from);
    if (!(span > 0) || !Number.isFinite(span)) return [];
    const step = niceStep(span, parts);
    const large = Math.max(Math.abs(from), Math.abs(to));
    return multiplesWithin(from, to, step).map((value) => ({ at: value, label: numberLabel(value, step, large) }));
}

/** Return ticks of a log axis, whose ends are logarithms: powers of ten, or round numbers within a decade. */
export function logTicks(from: number, to: number, parts: number): Tick[] {
    const span = Math.abs(to - from);
    if (!(span > 0) || !Number.isFinite(span)) return [];
    if (span < 1) {
        const [low, high] = [10 ** Math.min(from, to), 10 ** Math.max(from, to)];
        return linearTicks(low, high, parts).flatMap(({ at, label }) =>
            at > 0 ? [{ at: Math.log10(at), label }] : [],
        );
    }
    const stride = Math.max(1, Math.ceil(span / Math.max(2, parts)));
    const powers = multiplesWithin(from, to, stride).map((power) => ({ at: power, label: powerLabel(power) }));
    return stride > 1 ? powers : [...powers, ...minorLogTicks(from, to, span < 2.5)];
}

/** Return the ticks 2 to 9 of each power, with labels at 2 and 5 if there is room. */
function minorLogTicks(from: number, to: number, labelled: boolean): Tick[] {
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    const ticks: Tick[] = [];
    for (let power = Math.floor(low); power <= high; power++) {
        for (let digit = 2; digit < 10; digit++) {
            const at = power + Math.log10(digit);
            if (at < low || at > high) continue;
            const isLabelled = labelled && (digit === 2 || digit === 5);
            ticks.push({ at, label: isLabelled ? shortNumber(digit * 10 ** power) : '' });
        }
    }
    return ticks;
}

const SUPERSCRIPTS: Record<string, string> = Object.fromEntries(
    [...'0123456789-'].map((sign, k) => [sign, '⁰¹²³⁴⁵⁶⁷⁸⁹⁻'[k]!]),
);

const superscriptOf = (power: number) => [...String(power)].map((sign) => SUPERSCRIPTS[sign]).join('');

/** Format a power of ten, as a plain number while that is short. */
export function powerLabel(power: number): string {
    return Math.abs(power) <= 3 ? String(Number((10 ** power).toPrecision(1))) : `10${superscriptOf(power)}`;
}

/** Format a tick's value with the digits of the step. `large` is the greatest value of the axis. */
function numberLabel(value: number, step: number, large: number): string {
    const power = Math.floor(Math.log10(large));
    if (power >= 7 && step >= 1e4) return scientificLabel(value, step, power);
    if (power < -4) return scientificLabel(value, step, power);
    return replaceMinus(clearZero(value, step).toFixed(digitsOf(step)));
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
const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200];
const DAYS = [1, 2, 5, 10];
const MONTHS = [1, 2, 3, 6];

/** Format MJD as ISO 8601, to the second or millisecond; '' beyond the range of JavaScript dates. */
export function mjdToIso(mjd: number, to: 's' | 'ms' = 's'): string {
    const at = new Date(Math.round((mjd - UNIX_EPOCH) * DAY_MS));
    return Number.isNaN(at.getTime()) ? '' : at.toISOString().slice(0, to === 's' ? 19 : 23);
}

/** Return ticks of an MJD axis at round years, months, days, hours, minutes or seconds. */
export function timeTicks(from: number, to: number, parts: number): Tick[] {
    const span = Math.abs(to - from);
    const least = span / Math.max(1, parts);
    const seconds = SECONDS.find((step) => step >= least * 86400);
    if (seconds !== undefined && least * 86400 >= 0.5) {
        const step = seconds / 86400;
        return multiplesWithin(from, to, step).map((at) => ({ at, label: clockLabel(at, seconds) }));
    }
    if (least * 86400 < 0.5) return linearTicks(from, to, parts);
    const days = DAYS.find((step) => step >= least);
    if (days !== undefined)
        return multiplesWithin(from, to, days).map((at) => ({ at, label: mjdToIso(at + 1e-6).slice(0, 10) }));
    return calendarTicks(from, to, least / 30.4375);
}

function clockLabel(mjd: number, step: number): string {
    const iso = mjdToIso(mjd + 0.0005 / 86400);
    return step % 60 === 0 ? iso.slice(5, 16).replace('T', ' ') : iso.slice(11, 19);
}

function calendarTicks(from: number, to: number, leastMonths: number): Tick[] {
    const months = MONTHS.find((step) => step >= leastMonths) ?? 12 * Math.max(1, niceStep(leastMonths / 12, 1));
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    const start = new Date((low - UNIX_EPOCH) * DAY_MS);
    const end = new Date((high - UNIX_EPOCH) * DAY_MS);
    if (Number.isNaN(start.getTime()) || Number.isNaN(end.getTime())) return linearTicks(from, to, 5);
    const month = (date: Date) => 12 * date.getUTCFullYear() + date.getUTCMonth();
    return multiplesWithin(month(start), month(end), months).flatMap((at) => {
        const first = new Date(0);
        first.setUTCFullYear(Math.floor(at / 12), ((at % 12) + 12) % 12, 1);
        const mjd = first.getTime() / DAY_MS + UNIX_EPOCH;
        if (mjd < low || mjd > high) return [];
        return [{ at: mjd, label: mjdToIso(mjd).slice(0, months % 12 === 0 ? 4 : 7) }];
    });
}
