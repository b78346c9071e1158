/** ADQL for positions: any frame and notation as a point in ICRS. */

import { quoteName, makeUnique } from '../adql/adqlNames';
import type { Coordinate, Position } from './positionGuess';

/** Proper motions (with cos(dec)) with the mas/yr per unit; epochs in Julian years. */
export interface Motion {
    readonly ra: string;
    readonly dec: string;
    readonly mas: number;
    readonly from: number;
    readonly to: number;
}

/** A table with positions. */
export interface PlacedTable {
    /** as ADQL writes it: `TAP_UPLOAD.mine`, `tycho2.bright` */
    readonly table: string;
    readonly position: Position;
    /** names of all its columns */
    readonly all: readonly string[];
    readonly motion?: Motion | undefined;
}

/**
 * Return a table for FROM. A subquery converts other notations to degrees: nested in other functions, conversions are
 * too deep for the engine.
 */
export function sourceSql(alias: string, side: PlacedTable): string {
    if (!isConverted(side)) return `${side.table} AS ${alias}`;
    const [longitude, latitude] = angleNames(side);
    const { position } = side;
    return [
        '(',
        `    SELECT t.*, ${degreesSql('t', position.longitude)} AS ${longitude}, ${degreesSql('t', position.latitude)} AS ${latitude}`,
        `    FROM ${side.table} AS t) AS ${alias}`,
    ].join('\n');
}

/** Whether a subquery converts the position to degrees. */
export const isConverted = ({ position }: Pick<PlacedTable, 'position'>): boolean =>
    position.longitude.form !== 'deg' || position.latitude.form !== 'deg';

/** Return names for the converted angles that no column of the table has. */
const angleNames = ({ all }: PlacedTable): [string, string] => [
    makeUnique('longitude_deg', all),
    makeUnique('latitude_deg', all),
];

/** Return a table's position in ICRS, at the epoch of the match. Without an alias ('') it must not be converted. */
export function pointSql(alias: string, side: PlacedTable): string {
    const { position, motion } = side;
    const columns = isConverted(side) ? angleNames(side) : [position.longitude.column, position.latitude.column];
    const [longitude, latitude] = columns.map((column) => qualifyName(alias, column));
    if (position.frame !== 'ICRS') return `POINT('${position.frame}', ${longitude}, ${latitude})`;
    if (!motion) return `POINT(${longitude}, ${latitude})`;
    const [ra, dec] = [motion.ra, motion.dec].map((column) => timesSql(`${alias}.${quoteName(column)}`, motion.mas));
    const moved = `ivo_epoch_prop_pos(${longitude}, ${latitude}, 0, ${ra}, ${dec}, 0, ${motion.from}, ${motion.to})`;
    // the function rejects NULL, but a row without a position is not an error here
    return `CASE WHEN ${longitude} IS NOT NULL AND ${latitude} IS NOT NULL THEN ${moved} END`;
}

/** Return a column as a query names it. */
export const qualifyName = (alias: string, column: string): string =>
    alias ? `${alias}.${quoteName(column)}` : quoteName(column);

function degreesSql(alias: string, { column, form }: Coordinate): string {
    const value = `${alias}.${quoteName(column)}`;
    switch (form) {
        case 'deg':
            return value;
        case 'rad':
            return `DEGREES(${value})`;
        case 'hour':
            return `15 * ${value}`;
        case 'hms':
            return `ivo_hms_to_degrees(${value})`;
        case 'dms':
            return `ivo_dms_to_degrees(${value})`;
        case 'text':
            return `CAST(${value} AS DOUBLE PRECISION)`;
    }
}

const timesSql = (value: string, factor: number): string => (factor === 1 ? value : `${value} * ${decimalSql(factor)}`);

/** Return a number with a decimal point, so that division by it is not integer division. */
export function decimalSql(value: number): string {
    const plain = String(Number(value.toPrecision(12)));
    return /[.e]/.test(plain) ? plain : `${plain}.`;
}
