/** Instants as microseconds since 1970 (UTC), as DALI's texts and as Modified Julian Dates. */

export const MICROS_PER_DAY = 86_400_000_000;
export const UNIX_EPOCH_MJD = 40_587;

/** DALI's text of an instant, with as many digits of a second as it has: "2016-01-01T00:00:00.25". */
export function formatMicros(micros: bigint): string {
    const millis = Number(micros / 1000n - (micros % 1000n < 0n ? 1n : 0n));
    const rest = Number(((micros % 1000n) + 1000n) % 1000n);
    const date = new Date(millis);
    if (Number.isNaN(date.getTime())) return String(micros);
    const said = date.toISOString().slice(0, -1) + String(rest).padStart(3, '0');
    return said.replace(/\.?0+$/, '');
}

const FORM = /^\s*([+-]?\d{4,6})-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?)?\s*Z?\s*$/;

/** Microseconds of DALI's text of an instant (what is missing at its end is the begin); undefined if it is none. */
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

/** The Modified Julian Date of DALI's text of an instant; NaN if it is none. */
export function parseMjd(text: string): number {
    const found = parseMicros(text);
    return found === undefined ? NaN : Number(found) / MICROS_PER_DAY + UNIX_EPOCH_MJD;
}

/** DALI's text of a Modified Julian Date, to the microsecond as far as the date has it. */
export function formatMjd(mjd: number): string {
    return Number.isFinite(mjd) ? formatMicros(BigInt(Math.round((mjd - UNIX_EPOCH_MJD) * MICROS_PER_DAY))) : '';
}
