/** Writes the rows that a table shows as ADQL over the query they came from. */

import { quoteLiteral, quoteName } from '../adql/adqlNames';
import { planColumn } from '../expression/computedColumn';
import { writePlan } from '../expression/planAdql';
import { floatRange } from '../model/columnParts';
import { formatMjd } from '../model/instants';
import type { Cell, ComputedColumn, Field, Filter, Sort, Table } from '../model/resultModel';

/** Chosen rows beyond this number are not listed in a query. */
export const MAX_LISTED = 1000;

export interface ShownRows {
    /** the query that the table came from */
    readonly query: string;
    readonly fields: readonly Field[];
    readonly computed: readonly ComputedColumn[];
    readonly filters: readonly Filter[];
    readonly sorting: readonly Sort[];
    /** the shown columns */
    readonly columns: readonly number[];
    /** further conditions */
    readonly conditions?: readonly string[];
}

/** Return the query; undefined if ADQL cannot express one of the filters. */
export function writeShownQuery(shown: ShownRows): string | undefined {
    const { fields, columns } = shown;
    const conditions = [...shown.filters.map((filter) => filterCondition(filter, fields)), ...(shown.conditions ?? [])];
    if (conditions.includes(undefined)) return undefined;
    const isWhole = columns.length === fields.length && columns.every((column, at) => column === at);
    const order = shown.sorting.map(
        ({ column, descending }) => quoteName(fields[column]!.name) + (descending ? ' DESC' : ''),
    );
    return [
        `SELECT ${isWhole ? '*' : columns.map((column) => quoteName(fields[column]!.name)).join(', ')}`,
        `FROM (\n${writeComputed(shown)}\n) AS result`,
        ...(conditions.length ? [`WHERE ${conditions.join('\n  AND ')}`] : []),
        ...(order.length ? [`ORDER BY ${order.join(', ')}`] : []),
    ].join('\n');
}

/** Return a query that also computes what the page has computed from its result. */
export function withComputed(query: string, { fields, computed }: Pick<Table, 'fields' | 'computed'>): string {
    return computed.length ? writeComputed({ query, fields, computed }) : query;
}

/** Wrap the query in the computed columns, one after the other: each may use the ones before it. */
function writeComputed({ query, fields, computed }: Pick<ShownRows, 'query' | 'fields' | 'computed'>): string {
    const stored = fields.length - computed.length;
    return computed.reduce(
        (inner, column, at) => {
            const known = fields.slice(0, stored + at);
            const adql = writePlan(planColumn(column, known).plan, known);
            return `SELECT r${at + 1}.*, ${adql} AS ${quoteName(column.name)}\nFROM (\n${inner}\n) AS r${at + 1}`;
        },
        query.trim().replace(/;$/, ''),
    );
}

/** Return a filter as a condition; undefined if ADQL cannot express it. */
export function filterCondition(filter: Filter, fields: readonly Field[]): string | undefined {
    const field = fields[filter.column];
    if (!field || 'rows' in filter) return undefined;
    const name = quoteName(field.name);
    if ('contains' in filter) {
        // ILIKE would take % and _ as wildcards
        if (field.kind !== 'text' || /[%_]/.test(filter.contains)) return undefined;
        return `${name} ILIKE ${quoteLiteral(`%${filter.contains}%`)}`;
    }
    if ('oneOf' in filter) return valuesCondition(name, field, filter.oneOf, true);
    if ('noneOf' in filter) return valuesCondition(name, field, filter.noneOf, false);
    return rangeCondition(name, field, filter.min ?? -Infinity, filter.max ?? Infinity);
}

function rangeCondition(name: string, field: Field, min: number, max: number): string {
    if (field.kind === 'boolean')
        return min <= 0 && max >= 1 ? `${name} IS NOT NULL` : `${name} = ${min <= 0 ? 'FALSE' : 'TRUE'}`;
    const isTime = field.kind === 'time';
    const [low, high] = field.datatype === 'float' ? floatRange(min, max) : [min, max];
    const write = (end: number) => (isTime ? quoteLiteral(formatMjd(end)) : String(end));
    const ends = [
        ...(Number.isFinite(low) ? [`${name} >= ${write(low)}`] : []),
        ...(Number.isFinite(high) ? [`${name} <= ${write(high)}`] : []),
    ];
    if (ends.length === 2)
        return low === high ? `${name} = ${write(low)}` : `${name} BETWEEN ${write(low)} AND ${write(high)}`;
    return ends[0] ?? `${name} IS NOT NULL`;
}

function valuesCondition(
    name: string,
    field: Field,
    values: readonly (string | null)[],
    isWanted: boolean,
): string | undefined {
    if (field.kind === 'array') return undefined;
    const known = values.filter((value) => value !== null).map((value) => writeValue(value, field));
    const withNull = values.includes(null);
    const list = known.length ? `${name} ${isWanted ? 'IN' : 'NOT IN'} (${known.join(', ')})` : '';
    // NOT IN is met by no NULL
    const nulls = withNull === isWanted ? `${name} IS NULL` : `${name} IS NOT NULL`;
    if (!list) return nulls;
    return withNull === isWanted ? `(${list} OR ${nulls})` : list;
}

function writeValue(value: string, { kind, datatype }: Field): string {
    if (kind === 'boolean') return value.toUpperCase();
    if (kind === 'number') return datatype === 'float' ? String(Math.fround(Number(value))) : value;
    return quoteLiteral(value);
}

/** Return the condition that a row is one of some, by the values of an identifying column. */
export function listCondition(field: Field, values: readonly Cell[]): string {
    const known = values.map((value) => (field.kind === 'number' ? String(value) : quoteLiteral(String(value))));
    return `${quoteName(field.name)} IN (${[...new Set(known)].join(', ')})`;
}
