/** The ADQL of the query builder. */

import { makeUnique, quoteLiteral, quoteName } from '../adql/adqlNames';
import { formatQuery } from '../adql/formatQuery';
import { isConverted, pointSql, qualifyName, sourceSql } from '../uploads/positionSql';
import { writeCondition } from './conditionSql';
import type { DraftJoin, DraftTable, QueryDraft, TableSide } from './queryDraft';
import { readAngle } from './typedValues';

/** A column of the result. `key` names it in the draft's order. */
export interface QueryOutput {
    readonly key: string;
    readonly sql: string;
    /** its name in the result */
    readonly name: string;
    /** whether AS gives it the name */
    readonly renamed: boolean;
    /** the columns of a query of groups that are not summaries */
    readonly groups: boolean;
}

/** Return the query; '' without a table. Missing parts of the draft are left out: `findProblems` reports them. */
export function writeQuery(draft: QueryDraft, sides: readonly TableSide[]): string {
    const [first, ...joined] = draft.tables;
    const sideOf = (alias: string) => sides.find((side) => side.alias === alias);
    if (!first || draft.tables.some(({ alias }) => !sideOf(alias))) return '';
    const outputs = listOutputs(draft, sides);
    const grouped = draft.result === 'groups' ? outputs.filter(({ groups }) => groups) : [];
    const conditions = listConditions(draft, sides);
    const order = draft.result === 'count' ? [] : writeOrder(draft, outputs);
    const top = draft.result !== 'count' && /^\d+$/.test(draft.limit.trim()) ? `TOP ${Number(draft.limit)} ` : '';
    return formatQuery(
        [
            `SELECT ${top}${outputs.length ? outputs.map(writeOutput).join(', ') : '*'}`,
            `FROM ${writeSource(draft, sideOf(first.alias)!)}`,
            ...joined.map((table) => writeJoin(draft, table, sides)),
            conditions.length ? `WHERE ${conditions.join(' AND ')}` : '',
            grouped.length ? `GROUP BY ${grouped.map(({ sql }) => sql).join(', ')}` : '',
            order.length ? `ORDER BY ${order.join(', ')}` : '',
        ].join('\n'),
    );
}

const writeOutput = ({ sql, name, renamed }: QueryOutput): string => (renamed ? `${sql} AS ${quoteName(name)}` : sql);

/** Return the columns of the result, with names that differ; none for all columns of a single table. */
export function listOutputs(draft: QueryDraft, sides: readonly TableSide[]): QueryOutput[] {
    if (draft.result === 'count') return [madeOutput('COUNT', 'COUNT(*)', 'n', [])];
    const groups = draft.result === 'groups';
    const found: QueryOutput[] = [];
    const addMade = (key: string, sql: string, name: string) =>
        found.push(madeOutput(key, sql, name, [...found.map((one) => one.name), ...draft.columns.map(nameOf)]));
    const nameOf = ({ column }: { readonly column: string }) => column;
    const columns = orderedColumns(draft, sides);
    const summaries = groups ? columns.filter(({ summary }) => summary) : [];
    for (const { alias, column, summary } of [...columns.filter((one) => !summaries.includes(one)), ...summaries]) {
        const plain = qualifyName(aliasIn(draft, sides, alias), column);
        const key = `${summary && groups ? summary : ''} ${alias}.${column}`;
        const taken = found.map(({ name }) => name);
        if (summary && groups) {
            addMade(key, `${summary}(${plain})`, `${summary.toLowerCase()}_${column}`);
            continue;
        }
        const isTwice = draft.columns.some(
            (other) => other.alias !== alias && other.column.toLowerCase() === column.toLowerCase(),
        );
        const name = makeUnique(isTwice ? `${column}_${alias}` : column, taken);
        found.push({ key, sql: plain, name, renamed: name !== column, groups: true });
    }
    if (groups) addMade('COUNT', 'COUNT(*)', 'n');
    else for (const [key, sql, name] of listSeparations(draft, sides)) addMade(key, sql, name);
    if (!groups && found.length > 0 && draft.columns.length === 0 && draft.tables.length === 1)
        return [{ key: '*', sql: '*', name: '*', renamed: false, groups: false }, ...found];
    return found;
}

function madeOutput(key: string, sql: string, name: string, taken: readonly string[]): QueryOutput {
    return { key, sql, name: makeUnique(name, taken), renamed: true, groups: false };
}

/** Return the chosen columns in the order of tables and of their columns. */
function orderedColumns({ tables, columns }: QueryDraft, sides: readonly TableSide[]) {
    return tables.flatMap(({ alias }) => {
        const known = sides.find((side) => side.alias === alias)?.columns ?? [];
        return known.flatMap(({ name }) => columns.find((one) => one.alias === alias && one.column === name) ?? []);
    });
}

/** Return key, expression and name of the distances that become columns. */
function listSeparations(draft: QueryDraft, sides: readonly TableSide[]): [string, string, string][] {
    const { region } = draft;
    const around = region.shape !== 'everywhere' && region.distance ? regionPoints(draft, sides) : undefined;
    const joins = draft.tables.flatMap(({ alias, join }): [string, string, string][] => {
        const points = join?.by === 'position' && join.separation && joinPoints(alias, join, sides);
        if (!points) return [];
        return [[`separation ${alias}`, inArcsec(points), 'separation_arcsec']];
    });
    return [
        ...(around ? [['separation', `DISTANCE(${around.join(', ')})`, 'separation'] as [string, string, string]] : []),
        ...joins,
    ];
}

const inArcsec = (points: readonly string[]): string => `IN_UNIT(DISTANCE(${points.join(', ')}), 'arcsec')`;

/** Return the alias that qualifies columns: none if the query has one table as it is. */
function aliasIn(draft: QueryDraft, sides: readonly TableSide[], alias: string): string {
    if (draft.tables.length > 1) return alias;
    return isPlaced(draft, sides, alias) ? alias : '';
}

/** Whether the table's position is needed and has to be converted. */
function isPlaced(draft: QueryDraft, sides: readonly TableSide[], alias: string): boolean {
    const position = sides.find((side) => side.alias === alias)?.position;
    const isUsed =
        (draft.region.shape !== 'everywhere' && draft.region.alias === alias) ||
        draft.tables.some(({ alias: own, join }) => join?.by === 'position' && (own === alias || join.with === alias));
    return position !== undefined && isUsed && isConverted({ position });
}

function writeSource(draft: QueryDraft, side: TableSide): string {
    const { alias, table, position } = side;
    if (position && isPlaced(draft, [side], alias))
        return sourceSql(alias, { table, position, all: side.columns.map(({ name }) => name) });
    return draft.tables.length > 1 ? `${table} AS ${alias}` : table;
}

function writeJoin(draft: QueryDraft, { alias, join }: DraftTable, sides: readonly TableSide[]): string {
    const side = sides.find((one) => one.alias === alias)!;
    const on = join ? joinCondition(alias, join, sides) : '';
    const kind = join?.keepAll ? 'LEFT JOIN' : 'JOIN';
    return `${kind} ${writeSource(draft, side)} ON ${on || '1 = 1'}`;
}

function joinCondition(alias: string, join: DraftJoin, sides: readonly TableSide[]): string {
    if (join.by === 'columns')
        return join.pairs
            .map(({ own, other }) => `${qualifyName(join.with, other)} = ${qualifyName(alias, own)}`)
            .join(' AND ');
    const [points, radius] = [joinPoints(alias, join, sides), readAngle(join.radius, 'arcsec')];
    return points && 'sql' in radius ? `DISTANCE(${points.join(', ')}) < ${radius.sql}` : '';
}

function joinPoints(alias: string, join: DraftJoin, sides: readonly TableSide[]): string[] | undefined {
    const points = [join.with, alias].flatMap((each) => pointOf(sides, each, each) ?? []);
    return points.length === 2 ? points : undefined;
}

function pointOf(sides: readonly TableSide[], alias: string, qualifier: string): string | undefined {
    const side = sides.find((one) => one.alias === alias);
    if (!side?.position) return undefined;
    const { table, position, columns } = side;
    return pointSql(qualifier, { table, position, all: columns.map(({ name }) => name) });
}

function regionPoints(draft: QueryDraft, sides: readonly TableSide[]): string[] | undefined {
    const { centre, alias } = draft.region;
    const point = pointOf(sides, alias, aliasIn(draft, sides, alias));
    if (!point || !centre) return undefined;
    return [
        point,
        centre.name ? `skyhouse_resolve(${quoteLiteral(centre.name)})` : `POINT(${centre.ra}, ${centre.dec})`,
    ];
}

function writeRegion(draft: QueryDraft, sides: readonly TableSide[]): string[] {
    const { shape, size, height } = draft.region;
    const points = shape === 'everywhere' ? undefined : regionPoints(draft, sides);
    const [width, tall] = [readAngle(size, 'deg'), readAngle(height, 'deg')];
    if (!points || !('sql' in width)) return [];
    if (shape === 'circle') return [`DISTANCE(${points.join(', ')}) <= ${width.sql}`];
    if (!('sql' in tall)) return [];
    return [`1 = CONTAINS(${points[0]!}, BOX(${points[1]!}, ${width.sql}, ${tall.sql}))`];
}

function listConditions(draft: QueryDraft, sides: readonly TableSide[]): string[] {
    const typed = draft.conditions.flatMap((condition) => {
        const side = sides.find(({ alias }) => alias === condition.alias);
        const column = side?.columns.find(({ name }) => name === condition.column);
        const written = column && writeCondition(condition, column, aliasIn(draft, sides, condition.alias));
        return written && 'sql' in written ? [written.sql] : [];
    });
    return [...writeRegion(draft, sides), ...typed];
}

function writeOrder(draft: QueryDraft, outputs: readonly QueryOutput[]): string[] {
    return draft.order.flatMap(({ output, descending }) => {
        const found = outputs.find(({ key }) => key === output);
        if (!found || found.key === '*') return [];
        return [`${found.renamed ? quoteName(found.name) : found.sql}${descending ? ' DESC' : ''}`];
    });
}
