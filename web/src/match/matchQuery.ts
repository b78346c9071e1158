/** The ADQL of a cross-match. Column names are the tables' own, unquoted. */

import { quoteName, makeUnique } from '../adql/adqlNames';
import type { KeptMatch, KeptSide } from '../tap/keptMatches';
import type { Position } from '../uploads/positionGuess';
import { decimalSql, pointSql, sourceSql, type Motion } from '../uploads/positionSql';

export type { Motion } from '../uploads/positionSql';

/** Position errors: a column, and its units per arcsecond. */
export interface PositionErrors {
    readonly column: string;
    readonly perArcsec: number;
}

export interface MatchTable {
    /** as ADQL writes it: `TAP_UPLOAD.mine`, `tycho2.bright` */
    readonly table: string;
    readonly position: Position;
    /** columns of the result */
    readonly columns: readonly string[];
    /** all columns of the table */
    readonly all: readonly string[];
    readonly motion?: Motion | undefined;
    readonly errors?: PositionErrors | undefined;
    /** identifying column, for a table that is matched with itself */
    readonly id?: string | undefined;
}

/** The pairs of two tables that a kept match has, for the first of them or, if `isTurned`, for the second. */
export interface KeptPairs {
    readonly match: KeptMatch;
    readonly isTurned: boolean;
}

export interface Match {
    readonly left: MatchTable;
    readonly right: MatchTable;
    /** arcseconds, or `times` the errors of the tables that have some, added in quadrature */
    readonly radius: { readonly arcsec: number } | { readonly times: number };
    /** all pairs; the nearest partner of each left row; or pairs that are each other's nearest */
    readonly choice: 'all' | 'nearest' | 'mutual';
    /** rows with a partner, all left rows, or left rows without a partner */
    readonly keep: 'matched' | 'left' | 'unmatched';
    /** the kept match that has the pairs; it offers `choice` and `keep`, and the radius is at most its own */
    readonly kept?: KeptPairs | undefined;
}

/** Characters of a line of the query. */
const MAX_LINE = 84;

/** Return the query. The radius must be valid (`isRadius`); a radius of errors needs a table with errors. */
export function matchAdql(match: Match): string {
    const { left, right } = match;
    if (match.keep === 'unmatched') return unmatchedAdql(match);
    const join = match.keep === 'left' ? 'LEFT JOIN' : 'JOIN';
    const outputs = outputNames(left.columns, right.columns);
    const separation = match.kept
        ? 'm.separation'
        : writeCall('IN_UNIT', [writeCall('DISTANCE', [pointSql('a', left), pointSql('b', right)]), "'arcsec'"]);
    const lines = [
        ...listColumns('a', left.columns, outputs.left),
        ...listColumns('b', right.columns, outputs.right),
        `${separation} AS ${outputs.separation}`,
    ];
    return [
        `SELECT`,
        lines.map((line) => `  ${line}`).join(',\n'),
        `FROM ${sourceSql('a', left)}`,
        ...(match.kept
            ? joinKept(match, match.kept, join)
            : [`${join} ${sourceSql('b', right)}`, `  ON ${matchCondition(match)}${excludeSelf(match)}`]),
    ].join('\n');
}

/** Join the pairs of a kept match, and the second table if it is shown, by their ids. */
function joinKept(match: Match, kept: KeptPairs, join: string): string[] {
    const { left, right } = kept.match;
    const second = `${join} ${sourceSql('b', match.right)}`;
    return [
        `${join} ${kept.match.table} AS m`,
        `  ON ${keptCondition(match, kept)}`,
        ...(match.right.columns.length > 0 ? [second, `  ON ${equalIds(kept.isTurned ? left : right, 'b')}`] : []),
    ];
}

/** Write which pairs of a kept match the rows of the first table have. */
function keptCondition({ radius, choice }: Match, { match, isTurned }: KeptPairs): string {
    const isSmaller = 'arcsec' in radius && radius.arcsec < match.radius;
    return [
        equalIds(isTurned ? match.right : match.left, 'a'),
        ...(isSmaller ? [`m.separation <= ${radius.arcsec}`] : []),
        ...(choice === 'nearest' && match.kind === 'all' ? ['m.rank = 1'] : []),
    ].join(' AND ');
}

const equalIds = ({ ids }: KeptSide, alias: string): string =>
    ids.map(({ column, refersTo }) => `m.${column} = ${alias}.${refersTo}`).join(' AND ');

/** Return the query for left rows without a partner; which partner is nearest does not matter. */
function unmatchedAdql(match: Match): string {
    const { left, right } = match;
    const columns = left.columns.length > 0 ? left.columns : left.all;
    const any: Match = { ...match, choice: 'all' };
    return [
        'SELECT',
        listColumns('a', columns, outputNames(columns, []).left)
            .map((line) => `  ${line}`)
            .join(',\n'),
        `FROM ${sourceSql('a', left)}`,
        'WHERE NOT EXISTS (',
        ...(match.kept
            ? [`  SELECT * FROM ${match.kept.match.table} AS m`, `  WHERE ${keptCondition(any, match.kept)})`]
            : [`  SELECT * FROM ${sourceSql('b', right)}`, `  WHERE ${matchCondition(any)}${excludeSelf(match)})`]),
    ].join('\n');
}

function matchCondition({ left, right, radius, choice }: Match): string {
    const [p, q] = [pointSql('a', left), pointSql('b', right)];
    const degrees = 'arcsec' in radius ? `${radius.arcsec} / 3600.` : errorRadius(radius.times, left, right);
    if (choice === 'nearest') return `1 = ${writeCall('skyhouse_nearest', ['1', p, q, degrees])}`;
    if (choice === 'mutual') return `1 = ${writeCall('skyhouse_mutual', [p, q, degrees])}`;
    return `${writeCall('DISTANCE', [p, q])} <= ${degrees}`;
}

/** Write a function call, with long arguments on separate lines. */
function writeCall(name: string, values: readonly string[]): string {
    const line = `${name}(${values.join(', ')})`;
    return line.length <= MAX_LINE - 12 ? line : `${name}(\n      ${values.join(',\n      ')})`;
}

/** A row is not its own partner in a match of a table with itself. */
function excludeSelf({ left, right }: Match): string {
    if (left.table !== right.table || !left.id) return '';
    return ` AND a.${quoteName(left.id)} <> b.${quoteName(left.id)}`;
}

function errorRadius(times: number, left: MatchTable, right: MatchTable): string {
    const errors = [
        ...(left.errors ? [inArcsec('a', left.errors)] : []),
        ...(right.errors ? [inArcsec('b', right.errors)] : []),
    ];
    const total = errors.length > 1 ? `SQRT(${errors.map((error) => `${error} * ${error}`).join(' + ')})` : errors[0];
    return `${times} * ${total} / 3600.`;
}

function inArcsec(alias: string, { column, perArcsec }: PositionErrors): string {
    const value = `${alias}.${quoteName(column)}`;
    if (perArcsec === 1) return value;
    return perArcsec > 1 ? `(${value} / ${decimalSql(perArcsec)})` : `(${value} * ${decimalSql(1 / perArcsec)})`;
}

/** List the columns of a table with their names in the result, as many per line as fit. */
function listColumns(alias: string, columns: readonly string[], outputs: readonly string[]): string[] {
    const lines: string[] = [];
    columns.forEach((column, at) => {
        const output = outputs[at] ?? column;
        const as = output === column ? '' : ` AS ${quoteName(output)}`;
        const item = `${alias}.${quoteName(column)}${as}`;
        const last = lines.at(-1);
        if (last !== undefined && last.length + item.length < MAX_LINE) lines[lines.length - 1] = `${last}, ${item}`;
        else lines.push(item);
    });
    return lines;
}

/** Return names for the outputs that differ ignoring case: `_1` and `_2` distinguish equal names. */
export function outputNames(
    left: readonly string[],
    right: readonly string[],
): { left: string[]; right: string[]; separation: string } {
    const all = [...left, ...right].map((name) => name.toLowerCase());
    const once = (name: string) => all.filter((other) => other === name.toLowerCase()).length === 1;
    const taken = [...left, ...right].filter(once);
    const named = (suffix: string) => (name: string) => {
        if (once(name)) return name;
        const found = makeUnique(name + suffix, taken);
        taken.push(found);
        return found;
    };
    const [a, b] = [left.map(named('_1')), right.map(named('_2'))];
    return { left: a, right: b, separation: makeUnique('separation_arcsec', taken) };
}

/** Whether the radius is valid: positive, and no more than the sky. */
export const isRadius = (value: number): boolean => Number.isFinite(value) && value > 0 && value <= 648_000;

const ARCSEC: readonly [RegExp, number][] = [
    [/^(deg|degrees?)$/i, 1 / 3600],
    [/^arcmin$/i, 1 / 60],
    [/^(arcsec|as|")$/i, 1],
    [/^(mas|milliarcsec(ond)?)$/i, 1e3],
    [/^(uas|µas|microarcsec(ond)?)$/i, 1e6],
    [/^(rad|radians?)$/i, Math.PI / 648_000],
];

/** Return the units per arcsecond; undefined if it is not a unit of angle. */
export const perArcsec = (unit: string): number | undefined => ARCSEC.find(([known]) => known.test(unit.trim()))?.[1];

/** Return the mas/yr per unit of proper motion; undefined if it is not one. */
export function masPerYear(unit: string): number | undefined {
    const found = /^(\w+)\s*(?:\/\s*|[. ]?)(?:yr|year|a)(?:\*\*-1|\^?-1)?$/i.exec(unit.trim());
    const angle = found?.[1] === undefined ? undefined : perArcsec(found[1]);
    return angle === undefined ? undefined : 1000 / angle;
}
