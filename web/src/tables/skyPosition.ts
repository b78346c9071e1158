/** Position columns of a table, and positions that users type. */

import type { Column } from '../tap/vosiTables';
import { unquoteName } from '../adql/adqlNames';

const NAMES: readonly (readonly [string, string])[] = [
    ['ra', 'dec'],
    ['ra_icrs', 'de_icrs'],
    ['raj2000', 'dej2000'],
    ['s_ra', 's_dec'],
    ['_ra', '_de'],
];

/** Find the columns of right ascension and declination, in degrees; undefined if there are none. */
export function findPositionColumns(columns: readonly Column[]): readonly [Column, Column] | undefined {
    for (const main of [true, false]) {
        const of = (ucd: string) => columns.find((column) => hasUcd(column, ucd, main));
        const [ra, dec] = [of('pos.eq.ra'), of('pos.eq.dec')];
        if (ra && dec) return [ra, dec];
    }
    for (const names of NAMES) {
        const [ra, dec] = names.map((name) =>
            columns.find((column) => unquoteName(column.name).toLowerCase() === name),
        );
        if (ra && dec && isNumber(ra) && isNumber(dec)) return [ra, dec];
    }
    return undefined;
}

function hasUcd(column: Column, ucd: string, main: boolean): boolean {
    const words = column.ucd.toLowerCase().split(';');
    return words[0] === ucd && isNumber(column) && (!main || words.includes('meta.main'));
}

function isNumber(column: Column): boolean {
    return (column.datatype === 'double' || column.datatype === 'float') && !column.arraysize;
}

/** Parse a typed position to degrees: two numbers, or sexagesimal hours and degrees; undefined if invalid. */
export function parsePosition(typed: string): readonly [number, number] | undefined {
    const plain = typed
        .trim()
        .replaceAll('−', '-')
        .replace(/\s*,\s*/g, ' ');
    const numbers = /^([+-]?\d+(?:\.\d*)?)(?:°|d|deg)?\s+([+-]?\d+(?:\.\d*)?)(?:°|d|deg)?$/.exec(plain);
    if (numbers) return validPosition(Number(numbers[1]), Number(numbers[2]));
    const cut = /^(\d.*?)\s*([+-]\s*\d.*)$/.exec(plain);
    const hours = cut && parseSexagesimal(cut[1]!);
    const degrees = cut && parseSexagesimal(cut[2]!.replace(/^([+-])\s*/, '$1'));
    return hours === undefined || degrees === undefined || !cut ? undefined : validPosition(hours! * 15, degrees!);
}

/** Parse "3:47:00.5", "3 47", "3h47m0.5s" or "+24d07m" to a decimal number. */
function parseSexagesimal(typed: string): number | undefined {
    const found =
        /^([+-]?)(\d{1,3})(?:[:hd°\s]\s*(\d{1,2}(?:\.\d*)?))?(?:[:m'′\s]\s*(\d{1,2}(?:\.\d*)?))?[s"″m'′]?$/.exec(
            typed.trim(),
        );
    if (!found || found[3] === undefined) return undefined;
    const [minutes, seconds] = [Number(found[3]), Number(found[4] ?? 0)];
    if (minutes >= 60 || seconds >= 60) return undefined;
    return (found[1] === '-' ? -1 : 1) * (Number(found[2]) + minutes / 60 + seconds / 3600);
}

function validPosition(ra: number, dec: number): readonly [number, number] | undefined {
    const rounded = (value: number) => Number(value.toFixed(7));
    return ra >= 0 && ra <= 360 && Math.abs(dec) <= 90 ? [rounded(ra), rounded(dec)] : undefined;
}
