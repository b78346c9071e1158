/** Guesses which columns of a table are its position, and in which notation. */

import type { Cell } from '../model/resultModel';
import { cellToNumber } from './jsonCells';

export const FRAMES = ['ICRS', 'FK5', 'FK4', 'GALACTIC', 'ECLIPTIC'] as const;
export type Frame = (typeof FRAMES)[number];

/** degrees, radians, hours; text like 12:34:56.7 in hours or degrees; text in decimal degrees */
export type AngleForm = 'deg' | 'rad' | 'hour' | 'hms' | 'dms' | 'text';

/** Return the notations of a numeric column or a text column. */
export const formsOf = (kind: CandidateColumn['kind'] | undefined): readonly AngleForm[] =>
    kind === 'text' ? ['hms', 'dms', 'text'] : ['deg', 'rad', 'hour'];

/** A coordinate: the unquoted name of its column, and its notation. */
export interface Coordinate {
    readonly column: string;
    readonly form: AngleForm;
}

export interface Position {
    readonly frame: Frame;
    readonly longitude: Coordinate;
    readonly latitude: Coordinate;
}

/** A column of a file, or of a stored table, which has no samples. */
export interface CandidateColumn {
    readonly name: string;
    readonly kind: 'number' | 'text' | 'boolean' | 'time' | 'array';
    readonly unit?: string | undefined;
    readonly ucd?: string | undefined;
    readonly description?: string | undefined;
    readonly samples?: readonly Cell[];
}

type Axis = 'longitude' | 'latitude';

/** UCDs and name patterns; only a frame or notation may follow the name. */
const AXES: readonly { frame: Frame; longitude: readonly [string, RegExp]; latitude: readonly [string, RegExp] }[] = [
    {
        frame: 'ICRS',
        longitude: ['pos.eq.ra', namePattern('right[ _]?ascension|alpha|s_ra|ra')],
        latitude: ['pos.eq.dec', namePattern('declination|delta|s_dec|dec|de')],
    },
    {
        frame: 'GALACTIC',
        longitude: ['pos.galactic.lon', namePattern('glon|gal_?lon|l(?=$|[ _])|l_?ii')],
        latitude: ['pos.galactic.lat', namePattern('glat|gal_?lat|b(?=$|[ _])|b_?ii')],
    },
    {
        frame: 'ECLIPTIC',
        longitude: ['pos.ecliptic.lon', namePattern('elon|ecl_?lon|lambda')],
        latitude: ['pos.ecliptic.lat', namePattern('elat|ecl_?lat|beta')],
    },
];

function namePattern(stems: string): RegExp {
    const after =
        'icrs|fk[45]|j?2000(\\.0)?|b?1950(\\.0)?|degrees|deg|d|radians|rad|hours|hrs|hr|h|hms|dms|sex|str|mean|obs';
    return new RegExp(`^_?(?:${stems})(?:[ _.\\-(]*(${after})\\)?)*$`, 'i');
}

/** Guess the position by UCDs, otherwise by names; undefined if no two columns look like one. */
export function guessPosition(columns: readonly CandidateColumn[]): Position | undefined {
    for (const by of [matchesUcd(true), matchesUcd(false), matchesName]) {
        for (const axes of AXES) {
            const found = (axis: Axis) => columns.filter((column) => by(column, axes[axis]) && isUsable(column, axis));
            const [longitude, latitude] = findPair(found('longitude'), found('latitude'));
            if (longitude && latitude) return makePosition(axes.frame, longitude, latitude);
        }
    }
    return undefined;
}

const matchesUcd =
    (main: boolean) =>
    (column: CandidateColumn, [ucd]: readonly [string, RegExp]): boolean => {
        const words = (column.ucd ?? '').toLowerCase().split(';');
        return words[0] === ucd && (!main || words.includes('meta.main'));
    };

const matchesName = (column: CandidateColumn, [, pattern]: readonly [string, RegExp]): boolean =>
    pattern.test(column.name);

function isUsable(column: CandidateColumn, axis: Axis): boolean {
    return formOf(column, axis) !== undefined;
}

/** Return the first two with the same suffix (`RAdeg` and `DEdeg`), otherwise the first of each. */
function findPair(
    longitudes: readonly CandidateColumn[],
    latitudes: readonly CandidateColumn[],
): [CandidateColumn | undefined, CandidateColumn | undefined] {
    for (const longitude of longitudes) {
        const latitude = latitudes.find((other) => nameTail(other.name) === nameTail(longitude.name));
        if (latitude) return [longitude, latitude];
    }
    return [longitudes[0], latitudes[0]];
}

const nameTail = (name: string): string =>
    /[ _.]?(icrs|fk[45]|j?2000|b?1950|deg|rad)\)?$/i.exec(name)?.[0].toLowerCase() ?? '';

function makePosition(frame: Frame, longitude: CandidateColumn, latitude: CandidateColumn): Position {
    const old = /1950|fk4/i.test(longitude.name);
    return {
        frame: frame === 'ICRS' && old ? 'FK4' : frame,
        longitude: { column: longitude.name, form: formOf(longitude, 'longitude') ?? 'deg' },
        latitude: { column: latitude.name, form: formOf(latitude, 'latitude') ?? 'deg' },
    };
}

/** Guess a column's notation by unit, name and first values; undefined if it is not an angle. */
export function formOf(column: CandidateColumn, axis: Axis): AngleForm | undefined {
    if (column.kind === 'text') return textForm(column, axis);
    if (column.kind !== 'number') return undefined;
    const unit = (column.unit ?? '').trim().toLowerCase();
    if (/^(deg|degrees?|°)$/.test(unit)) return 'deg';
    if (/^(rad|radians?)$/.test(unit)) return 'rad';
    if (/^(h|hr|hrs|hours?|hourangle)$/.test(unit)) return 'hour';
    if (unit) return undefined;
    if (/[ _.(]rad(ians)?\)?$/i.test(column.name)) return 'rad';
    return axis === 'longitude' && /[ _.(](h|hrs?|hours)\)?$/i.test(column.name) ? 'hour' : 'deg';
}

const SEXAGESIMAL =
    /^\s*[+-]?\d{1,3}(\s*:\s*\d{1,2}\s*:\s*\d|\s+\d{1,2}\s+\d|[hd]\s*\d{1,2}m\s*\d|\d{3,4}(\.\d*)?\s*$)/i;

function textForm(column: CandidateColumn, axis: Axis): AngleForm | undefined {
    const values = (column.samples ?? []).filter((cell) => cell !== null && String(cell).trim() !== '').map(String);
    const unit = (column.unit ?? '').replaceAll('"', '').toLowerCase();
    if (values.length === 0) {
        if (/^h[:\s]?m[:\s]?s/.test(unit)) return 'hms';
        return /^d[:\s]?m[:\s]?s/.test(unit) ? 'dms' : undefined;
    }
    if (values.every((value) => SEXAGESIMAL.test(value))) {
        const degrees = axis === 'latitude' || unit.startsWith('d') || values.some((value) => /d/i.test(value));
        return degrees ? 'dms' : 'hms';
    }
    return values.every((value) => Number.isFinite(Number(value))) ? 'text' : undefined;
}

/** Return what the values make doubtful: `radians` or `hours` instead of degrees, `range` beyond the sky. */
export function findDoubt(
    columns: readonly CandidateColumn[],
    at: Position,
): 'radians' | 'hours' | 'range' | undefined {
    if (at.longitude.form !== 'deg' || at.latitude.form !== 'deg') return undefined;
    const longitudes = sampleValues(columns, at.longitude.column);
    const latitudes = sampleValues(columns, at.latitude.column);
    const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)];
    const high = Math.max(...latitudes.map(Math.abs));
    if (high > 90 || east > 360 || west < -180) return 'range';
    // few rows, or rows of one field, may lie near the origin
    if (longitudes.length < 5 || west < 0) return undefined;
    if (east <= 2 * Math.PI && high <= Math.PI / 2 && east - west > 2) return 'radians';
    return east <= 24 && east - west > 6 && high > 10 ? 'hours' : undefined;
}

function sampleValues(columns: readonly CandidateColumn[], name: string): number[] {
    const samples = columns.find((column) => column.name === name)?.samples ?? [];
    return samples.map(cellToNumber).filter(Number.isFinite);
}

/** Return the columns that may be a coordinate. */
export const angleColumns = (columns: readonly CandidateColumn[], axis: Axis): CandidateColumn[] =>
    columns.filter((column) => formOf(column, axis) !== undefined);
