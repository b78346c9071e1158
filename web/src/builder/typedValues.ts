/** What users type for a value: numbers in any unit, instants, texts. */

import { quoteLiteral } from '../adql/adqlNames';
import { convertValue, isKnownUnit } from './typedUnits';
import { formatMicros, parseMicros } from '../model/instants';
import { text } from '../text';
import { formatUnit } from '../text/unitFormat';

const texts = text.builder.values;

/** A value as ADQL text, or the reason why it is invalid. */
export type TypedValue =
    /** `converted`: the value in the column's unit, if another one was typed */
    { readonly sql: string; readonly converted?: string } | { readonly problem: string };

const NUMBER = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(.*)$/i;

/** Read a number, in `unit` or with its own unit. */
export function readNumber(typed: string, unit = ''): TypedValue {
    if (/^[-+−]?\d+,\d+$/.test(typed.trim())) return { problem: texts.comma(typed) };
    const found = NUMBER.exec(typed.trim().replaceAll('−', '-'));
    if (!found) return { problem: texts.number(typed) };
    const [, digits = '', given = ''] = found;
    // all digits of a 64-bit integer are kept
    if (!given || given === unit) return { sql: digits.replace(/^\+/, '') };
    if (!isKnownUnit(given)) return { problem: texts.unknownUnit(given, unit && formatUnit(unit)) };
    if (!unit) return convertOf(digits, given, '') ?? { problem: texts.withoutUnit(given) };
    return convertOf(digits, given, unit) ?? { problem: texts.otherUnit(given, formatUnit(unit)) };
}

function convertOf(digits: string, from: string, to: string): TypedValue | undefined {
    const value = convertValue(Number(digits), from, to);
    return value === undefined ? undefined : { sql: String(value), converted: `${value} ${formatUnit(to)}`.trim() };
}

/** Read an instant. */
export function readInstant(typed: string): TypedValue {
    const micros = parseMicros(typed);
    if (micros === undefined) return { problem: texts.instant(typed) };
    return { sql: `CAST(${quoteLiteral(formatMicros(micros))} AS TIMESTAMP)` };
}

/** Read an angle and write it in degrees as typed: `2 / 3600.` for two arcseconds. `unit`: of a bare number. */
export function readAngle(typed: string, unit: 'deg' | 'arcsec'): TypedValue & { readonly degrees?: number } {
    const [bare, read] = [readNumber(typed, unit), readNumber(typed, 'deg')];
    if ('problem' in bare) return bare;
    const written = /[a-z"'′″°]/i.test(typed.replace(/e[+-]?\d+/i, '')) ? read : bare;
    if ('problem' in written) return written;
    const inDegrees = written === read;
    const degrees = inDegrees ? Number(written.sql) : Number(written.sql) / (unit === 'arcsec' ? 3600 : 1);
    if (!(degrees > 0 && degrees <= 180)) return { problem: texts.angle };
    const arcsec = Number((degrees * 3600).toPrecision(12));
    const sql = degrees < 1 / 60 ? `${arcsec} / 3600.` : String(Number(degrees.toPrecision(12)));
    return { sql, degrees };
}

/** Return the values of a list, separated by commas. */
export const splitValues = (typed: string): string[] =>
    typed
        .split(',')
        .map((value) => value.trim())
        .filter(Boolean);
