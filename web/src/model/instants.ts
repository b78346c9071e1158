/** Instants as microseconds since 1970 (UTC), as DALI text and as Modified Julian Date. */

export const MICROS_PER_DAY = 86_400_000_000;
export const UNIX_EPOCH_MJD = 40_587;

/** Format an instant as DALI text without trailing zeros: "2016-01-01T00:00:00.25". */
export function formatMicros(micros: bigint): string {
    const millis = Number(micros / 1000n - (micros % 1000n < 0n ? 1n : 0n));
    const rest = Number(((micros % 1000n) + 1000n) % 1000n);
    const date = new Date(millis);
    if (Number.isNaN(date.getTime())) return String(micros);
    const formatted = date.toISOString().slice(0, -1) + String(rest).padStart(3, '0');
    return formatted.replace(/\.?0+$/, '');
}

const FORM = /^\s*([+-]?\d{4,6})-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?)?\s*Z?\s*$/;

/** Parse DALI text to microseconds, missing fields as their minimum; undefined if it is not an instant. */
export function parseMicros(text: string): bigint | undefined {
    const found = FORM.exec(text);
    if (!found) return undefined;
    const [, year, month, day = '1', hour = '0', minute = '0', second = '0', fraction = ''] = found;
    const date = new Date(0);
    date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
    if (date.getUTCMonth() !== Number(month) - 1) return undefined;
    date.setUTCHours(Number(hour), Number(minute), Number(second));
    return BigInt(date.getTime()) * 1000n + BigInt(fraction.padEnd(6, '0').slice(0, 6));
}

/** Parse DALI text to a Modified Julian Date; NaN if it is not an instant. */
export function parseMjd(text: string): number {
    const found = parseMicros(text);
    return found === undefined ? NaN : Number(found) / MICROS_PER_DAY + UNIX_EPOCH_MJD;
}

/** Least number that is a Julian Date: as a Modified one it would be a day after the year 6000. */
const LEAST_JD = 1_600_000;

/** Parse what a user types for an instant: MJD, JD or a date. Return MJD; NaN if it is none of them. */
export function parseEpoch(text: string): number {
    const typed = Number(text);
    if (!Number.isFinite(typed)) return parseMjd(text);
    return typed >= LEAST_JD ? typed - 2_400_000.5 : typed;
}

/** Format a Modified Julian Date as DALI text, to the microsecond at most. */
export function formatMjd(mjd: number): string {
    return Number.isFinite(mjd) ? formatMicros(BigInt(Math.round((mjd - UNIX_EPOCH_MJD) * MICROS_PER_DAY))) : '';
}
