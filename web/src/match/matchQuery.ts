/** The ADQL of a cross-match: pure, of what the wizard was told. Names of columns are the tables' own, unquoted. */

import { quoteName, makeUnique } from '../adql/identifiers';
import type { Position } from '../uploads/positionGuess';
import { decimalSql, pointSql, sourceSql, type Motion } from '../uploads/positionSql';

export type { Motion } from '../uploads/positionSql';

/** Errors of positions: a column, and how many of its units make an arcsecond. */
export interface PositionErrors {
    readonly column: string;
    readonly perArcsec: number;
}

export interface MatchTable {
    /** as ADQL writes it: `TAP_UPLOAD.mine`, `tycho2.bright` */
    readonly table: string;
    readonly position: Position;
    /** of the result */
    readonly columns: readonly string[];
    /** all that the table has */
    readonly all: readonly string[];
    readonly motion?: Motion | undefined;
    readonly errors?: PositionErrors | undefined;
    /** a column that tells the rows apart, for a table that is matched with itself */
    readonly id?: string | undefined;
}

export interface Match {
    readonly left: MatchTable;
    readonly right: MatchTable;
    /** arcseconds, or `times` the errors of the sides that have some, added in quadrature */
    readonly radius: { readonly arcsec: number } | { readonly times: number };
    /** all pairs, for each row of the left the nearest, or the pairs of which each is the other's nearest */
    readonly choice: 'all' | 'nearest' | 'mutual';
    /** rows with a partner, all rows of the left, or those without a partner */
    readonly keep: 'matched' | 'left' | 'unmatched';
}

/** a line of the query, in characters */
const MAX_LINE = 84;

/** The query. The radius has to be one (`isRadius`), and a radius of errors a side with errors. */
export function matchAdql(match: Match): string {
    const { left, right } = match;
    if (match.keep === 'unmatched') return unmatchedAdql(match);
    const outputs = outputNames(left.columns, right.columns);
    const lines = [
        ...listColumns('a', left.columns, outputs.left),
        ...listColumns('b', right.columns, outputs.right),
        `${writeCall('IN_UNIT', [writeCall('DISTANCE', [pointSql('a', left), pointSql('b', right)]), "'arcsec'"])} AS ${outputs.separation}`,
    ];
    return [
        `SELECT`,
        lines.map((line) => `  ${line}`).join(',\n'),
        `FROM ${sourceSql('a', left)}`,
        `${match.keep === 'left' ? 'LEFT JOIN' : 'JOIN'} ${sourceSql('b', right)}`,
        `  ON ${matchCondition(match)}${excludeSelf(match)}`,
    ].join('\n');
}

/** Rows of the left that have nothing near: who would be the nearest does not matter. */
function unmatchedAdql(match: Match): string {
    const { left, right } = match;
    const columns = left.columns.length > 0 ? left.columns : left.all;
    return [
        'SELECT',
        listColumns('a', columns, outputNames(columns, []).left)
            .map((line) => `  ${line}`)
            .join(',\n'),
        `FROM ${sourceSql('a', left)}`,
        'WHERE NOT EXISTS (',
        `  SELECT * FROM ${sourceSql('b', right)}`,
        `  WHERE ${matchCondition({ ...match, choice: 'all' })}${excludeSelf(match)})`,
    ].join('\n');
}

function matchCondition({ left, right, radius, choice }: Match): string {
    const [p, q] = [pointSql('a', left), pointSql('b', right)];
    const degrees = 'arcsec' in radius ? `${radius.arcsec} / 3600.` : errorRadius(radius.times, left, right);
    if (choice === 'nearest') return `1 = ${writeCall('skyhouse_nearest', ['1', p, q, degrees])}`;
    if (choice === 'mutual') return `1 = ${writeCall('skyhouse_mutual', [p, q, degrees])}`;
    return `${writeCall('DISTANCE', [p, q])} <= ${degrees}`;
}

/** A function, its arguments on lines of their own if they are long. */
function writeCall(name: string, values: readonly string[]): string {
    const line = `${name}(${values.join(', ')})`;
    return line.length <= MAX_LINE - 12 ? line : `${name}(\n      ${values.join(',\n      ')})`;
}

/** No row is its own partner where a table is matched with itself. */
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

/** The columns of a side with their names in the result, as many on a line as fit. */
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

/** Names of the outputs that differ without regard to case: of two equal ones `_1` and `_2` tell the side. */
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

/** Whether a match can have this radius: more than nothing, and no more than the sky. */
export const isRadius = (value: number): boolean => Number.isFinite(value) && value > 0 && value <= 648_000;

const ARCSEC: readonly [RegExp, number][] = [
    [/^(deg|degrees?)$/i, 1 / 3600],
    [/^arcmin$/i, 1 / 60],
    [/^(arcsec|as|")$/i, 1],
    [/^(mas|milliarcsec(ond)?)$/i, 1e3],
    [/^(uas|µas|microarcsec(ond)?)$/i, 1e6],
    [/^(rad|radians?)$/i, Math.PI / 648_000],
];

/** How many of a unit make an arcsecond; undefined if it is none of angles. */
export const perArcsec = (unit: string): number | undefined => ARCSEC.find(([known]) => known.test(unit.trim()))?.[1];

/** How many mas/yr a unit of proper motions is; undefined if it is none. */
export function masPerYear(unit: string): number | undefined {
    const found = /^(\w+)\s*(?:\/\s*|[. ]?)(?:yr|year|a)(?:\*\*-1|\^?-1)?$/i.exec(unit.trim());
    const angle = found?.[1] === undefined ? undefined : perArcsec(found[1]);
    return angle === undefined ? undefined : 1000 / angle;
}
