/** Samples of a table: their size, and what a count in them says of the table. */

import type { Quantity } from './quantities';
import { whereClause, type FilteredTable, type TableFilters } from './tableFilters';

export const SAMPLE_SIZES = [20_000, 200_000, 1_000_000] as const;
export const DEFAULT_SAMPLE = 200_000;
/** A sample may be this much larger than its expected size: three standard deviations and more. */
const ROOM = 1.1;

/** Return the percentage of `rows` rows that has about `size` of them; 100: all. */
export function samplePercent(rows: number, size: number): number {
    // rounded down: the rows of a sample must not exceed the row limit
    const percent = Math.floor(((100 * size) / Math.max(rows, 1)) * 1e8) / 1e8;
    return rows <= size ? 100 : Math.max(percent, 1e-8);
}

/** Return the most rows to expect of a sample, as its row limit. */
export const sampleLimit = (size: number): number => Math.ceil(size * ROOM) + 100;

/** Return the query for a sample of the rows that meet the filters: the position first, then the quantities. */
export function sampleQuery(
    of: FilteredTable,
    quantities: readonly Quantity[],
    filters: TableFilters,
    percent: number,
): string {
    const asked = [...(of.position ?? []), ...quantities.map(({ adql }) => adql)];
    const columns = asked.map((adql, at) => `${adql} AS q${at}`).join(', ');
    const from = percent < 100 ? `${of.table} AS t TABLESAMPLE (${plainDecimal(percent)})` : of.table;
    return `SELECT ${columns}\nFROM ${from}${whereClause(of, filters)}`;
}

/** Write a number without an exponent. */
const plainDecimal = (value: number): string => value.toFixed(8).replace(/\.?0+$/, '');

/** A number of rows with its standard error; exact if that is 0. */
export interface RowEstimate {
    readonly rows: number;
    readonly error: number;
}

/**
 * Return what `count` sampled rows say of the table: each was taken with the probability p = percent / 100, so the
 * estimate is count / p with the variance count (1 - p) / p^2 (Horvitz-Thompson).
 */
export function estimateRows(count: number, percent: number): RowEstimate {
    const part = percent / 100;
    return { rows: count / part, error: Math.sqrt(count * (1 - part)) / part };
}
