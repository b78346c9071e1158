/** The tables that may have data of an object: those with positions, and those with time series of their rows. */

import { areSameNames, quoteLiteral, quoteName, unquoteName } from '../adql/adqlNames';
import { equalIgnoringCase } from '../adql/adqlTokens';
import type { TableKey } from '../tap/tableKeys';
import { searchIndex } from '../tables/searchIndex.svelte';
import type { SearchEntry } from '../tables/catalogueSearch';
import type { Value } from '../tap/jsonRows';
import { catalogue } from '../tap/tableCatalogue.svelte';

/** A table and what its columns mean, by UCD. Names are as ADQL writes them. */
export interface ObjectTable {
    readonly name: string;
    readonly position?: { readonly ra: string; readonly dec: string };
    readonly series?: SeriesColumns;
}

export interface SeriesColumns {
    readonly time: string;
    readonly value: string;
    readonly error?: string;
    readonly band?: string;
}

/** Load all tables that have positions or time series. Raises an Error with the reason. */
export async function loadObjectTables(): Promise<ObjectTable[]> {
    await Promise.all([catalogue.loadTables(), searchIndex.loadColumns()]);
    if (catalogue.failed || searchIndex.failed) throw new Error(catalogue.failed || searchIndex.failed);
    return objectTablesOf(searchIndex.columns);
}

export function objectTablesOf(columns: readonly SearchEntry[]): ObjectTable[] {
    const tables = new Map<string, SearchEntry[]>();
    for (const column of columns) tables.set(column.table, [...(tables.get(column.table) ?? []), column]);
    return [...tables].flatMap(([name, of]) => {
        const [position, series] = [positionOf(of), seriesOf(of)];
        return position || series ? [{ name, ...(position && { position }), ...(series && { series }) }] : [];
    });
}

const wordsOf = (column: SearchEntry): string[] => column.ucd.toLowerCase().split(';');

function positionOf(columns: readonly SearchEntry[]): ObjectTable['position'] {
    for (const main of [true, false]) {
        const [ra, dec] = ['pos.eq.ra', 'pos.eq.dec'].map((ucd) =>
            columns.find((column) => wordsOf(column)[0] === ucd && (!main || wordsOf(column).includes('meta.main'))),
        );
        if (ra && dec) return { ra: ra.name, dec: dec.name };
    }
    return undefined;
}

function seriesOf(columns: readonly SearchEntry[]): SeriesColumns | undefined {
    const time = columns.find((column) => wordsOf(column)[0] === 'time.epoch');
    const value =
        columns.find((column) => wordsOf(column)[0] === 'phot.mag') ??
        columns.find((column) => wordsOf(column)[0]!.startsWith('phot.flux'));
    if (!time || !value) return undefined;
    const error =
        columns.find((column) => column.ucd.toLowerCase() === `stat.error;${value.ucd.toLowerCase()}`) ??
        columns.find(({ name }) =>
            [`e_${value.name}`, `${value.name}_error`, `${value.name}_err`, `${value.name}err`].some(
                (each) => each.toLowerCase() === name.toLowerCase(),
            ),
        );
    const band = columns.find((column) => wordsOf(column).includes('instr.bandpass'));
    return {
        time: time.name,
        value: value.name,
        ...(error && { error: error.name }),
        ...(band && { band: band.name }),
    };
}

/** Rows without a key belong to one object if they are so near: degrees. */
const SAME_OBJECT = 2 / 3600;

/** Most rows of a time series. */
export const MAX_SERIES_ROWS = 20_000;

/**
 * Return the query for the time series of matched rows; undefined if the table has none. It follows a foreign key to a
 * matched table; without one, it takes the rows at the position.
 */
export function seriesQuery(
    table: ObjectTable,
    keys: readonly TableKey[],
    matched: readonly { readonly table: string; readonly names: readonly string[]; readonly row: readonly Value[] }[],
    centre: readonly [number, number],
): string | undefined {
    const { series, position } = table;
    if (!series) return undefined;
    const chosen = [series.time, series.value, series.error, series.band].filter((name) => name !== undefined);
    const select = `SELECT ${chosen.join(', ')}\nFROM ${table.name}`;
    for (const key of keys.filter(({ from }) => areSameNames(from, table.name))) {
        const [pair, further] = key.columns;
        const match = matched.find((each) => areSameNames(each.table, key.target));
        if (!pair || further || !match) continue;
        const value = match.row[match.names.findIndex((name) => equalIgnoringCase(unquoteName(name), pair.target))];
        const literal = value === undefined ? undefined : literalOf(value);
        if (literal) return `${select}\nWHERE ${quoteName(pair.from)} = ${literal}\nORDER BY ${series.time}`;
    }
    if (!position) return undefined;
    const point = `POINT(${position.ra}, ${position.dec})`;
    const within = `DISTANCE(${point}, POINT(${centre.join(', ')})) <= ${Number(SAME_OBJECT.toPrecision(12))}`;
    return `${select}\nWHERE ${within}\nORDER BY ${series.time}`;
}

function literalOf(value: Value): string | undefined {
    if (typeof value === 'string') return quoteLiteral(value);
    return typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value))
        ? String(value)
        : undefined;
}
