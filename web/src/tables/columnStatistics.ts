/** ADQL for column statistics, several columns per query, and the reading of its answers. */

import type { Column } from '../tap/vosiTables';
import { toNumber, type Value } from '../tap/jsonRows';

/** Kinds of statistics: arrays and shapes only have a count of NULL. */
export type Kind = 'number' | 'time' | 'boolean' | 'text' | 'other';

export interface BasicStatistics {
    /** rows looked at */
    readonly rows: number;
    /** rows without a value among them */
    readonly missing: number;
    readonly min: Value;
    readonly max: Value;
}

/** Counts in equal bins; times are MJD. */
export interface Histogram {
    readonly from: number;
    readonly to: number;
    readonly counts: readonly number[];
    /** `from` and `to` are decimal logarithms, with equal bins between them */
    readonly log: boolean;
    /** number of NaN */
    readonly nan: number;
}

/** A frequent value and its number of rows. */
export interface Frequent {
    readonly value: Value;
    readonly rows: number;
}

const BINS = 30;
/** Ratio of the extremes from which positive values are binned by logarithm. */
const DECADES = 100;
const MAX_FREQUENT = 6;
/** Larger tables are sampled, to about `SAMPLE` rows. */
export const MAX_WHOLE = 5_000_000;
const SAMPLE = 1_000_000;

const NUMBERS = new Set(['unsignedByte', 'short', 'int', 'long', 'float', 'double']);

export function statisticsKindOf(column: Column): Kind {
    if (column.xtype === 'timestamp') return 'time';
    if (column.datatype === 'char' || column.datatype === 'unicodeChar') return column.xtype ? 'other' : 'text';
    if (column.arraysize && column.arraysize !== '1') return 'other';
    if (column.datatype === 'boolean') return 'boolean';
    return NUMBERS.has(column.datatype) ? 'number' : 'other';
}

/** The source of the statistics: a table, or a sample of a large one. */
export interface StatisticsSample {
    readonly from: string;
    /** per cent of the rows; 100: all */
    readonly percent: number;
}

/** Return the part of a table of `rows` rows that statistics are computed from. */
export function chooseSample(table: string, rows: number): StatisticsSample {
    if (rows <= MAX_WHOLE) return { from: table, percent: 100 };
    const percent = Number(((100 * SAMPLE) / rows).toPrecision(2));
    return { from: `${table} AS t TABLESAMPLE (${percent.toFixed(10).replace(/0+$/, '')})`, percent: percent };
}

/** Return the query for rows, values and extremes of columns. */
export function basicsQuery(of: StatisticsSample, columns: readonly Column[]): string {
    const asked = columns.flatMap((column, at) => {
        const counted = `COUNT(${column.name}) AS n${at}`;
        const kind = statisticsKindOf(column);
        const ordered = kind === 'number' || kind === 'time' || kind === 'text';
        return ordered ? [counted, `MIN(${column.name}) AS lo${at}`, `MAX(${column.name}) AS hi${at}`] : [counted];
    });
    return `SELECT ${['COUNT(*) AS n', ...asked].join(', ')}\nFROM ${of.from}`;
}

/** Read the answer to `basicsQuery`, one entry per column. */
export function basicsOf(
    columns: readonly Column[],
    names: readonly string[],
    row: readonly Value[],
): BasicStatistics[] {
    const cell = (name: string): Value => row[names.indexOf(name)] ?? null;
    const rows = toNumber(cell('n'));
    return columns.map((_, at) => ({
        rows,
        missing: rows - toNumber(cell(`n${at}`)),
        min: cell(`lo${at}`),
        max: cell(`hi${at}`),
    }));
}

export interface Range {
    readonly from: number;
    readonly to: number;
    readonly bins: number;
    /** the ends are decimal logarithms */
    readonly log: boolean;
}

/** Return the range and bins of a column's histogram; undefined if it has none. */
export function rangeOf(column: Column, basics: BasicStatistics): Range | undefined {
    const kind = statisticsKindOf(column);
    if (kind !== 'number' && kind !== 'time') return undefined;
    const [low, high] = [toMjd(kind, basics.min), toMjd(kind, basics.max)];
    if (!Number.isFinite(low) || !Number.isFinite(high) || low >= high) return undefined;
    const whole = ['unsignedByte', 'short', 'int', 'long'].includes(column.datatype) && kind === 'number';
    if (whole) return wholeRange(low, high);
    // float32 extremes are rounded in decimal
    const rounding = column.datatype === 'float' ? Math.max(Math.abs(low), Math.abs(high)) * 2e-7 : 0;
    const ends = [low - rounding, high + rounding] as const;
    // values over many orders of magnitude would all fall into the first bin
    const log = kind === 'number' && !isAngle(column) && ends[0] > 0 && ends[1] / ends[0] > DECADES;
    const [from, to] = log ? [Math.log10(ends[0]) - 1e-9, Math.log10(ends[1]) + 1e-9] : ends;
    return { from, to, bins: BINS, log };
}

/** Return bins that hold equally many integers each. */
function wholeRange(low: number, high: number): Range {
    const width = Math.ceil((high - low + 1) / BINS);
    const bins = Math.ceil((high - low + 1) / width);
    return { from: low - 0.5, to: low - 0.5 + width * bins, bins, log: false };
}

/** Whether the values are angles, whose logarithms are meaningless. */
function isAngle(column: Column): boolean {
    return column.unit === 'deg' || column.unit === 'rad' || /^pos\.(eq|galactic|ecliptic|posAng)/i.test(column.ucd);
}

/** Return a time as MJD, a number unchanged. */
function toMjd(kind: Kind, value: Value): number {
    if (kind !== 'time') return toNumber(value);
    return typeof value === 'string' ? Date.parse(/Z$/.test(value) ? value : `${value}Z`) / 86_400_000 + 40587 : NaN;
}

/** Return the query for the histograms of columns. */
export function histogramQuery(of: StatisticsSample, asked: readonly (readonly [Column, Range])[]): string {
    const each = asked.map(([column, range], at) => {
        const value = countedExpression(column, range);
        return `ivo_histogram(${value}, ${range.from}, ${range.to}, ${range.bins}) AS h${at}`;
    });
    return `SELECT ${each.join(', ')}\nFROM ${of.from}`;
}

/** Return the expression to count: the value, the MJD of a time, or the logarithm. */
function countedExpression(column: Column, range: Range): string {
    if (statisticsKindOf(column) === 'time') return `ivo_to_mjd(${column.name})`;
    return range.log ? `LOG10(${column.name})` : column.name;
}

/** Read a cell of the answer to `histogramQuery`: below, each bin, above. */
export function histogramOf(range: Range, cell: Value, missing: number): Histogram {
    const counts = (Array.isArray(cell) ? cell : []).map(toNumber);
    const inside = counts.slice(1, -1);
    // the upper end, the maximum, belongs to the last bin
    if (inside.length) inside[inside.length - 1]! += counts.at(-1)!;
    return {
        from: range.from,
        to: range.to,
        log: range.log,
        counts: inside,
        nan: Math.max(0, (counts[0] ?? 0) - missing),
    };
}

/** Return the query for the most frequent values of a column. */
export function frequentQuery(of: StatisticsSample, column: Column, most = MAX_FREQUENT): string {
    const name = column.name;
    return `SELECT TOP ${most} ${name}, COUNT(*) AS n\nFROM ${of.from}\nWHERE ${name} IS NOT NULL\nGROUP BY ${name}\nORDER BY n DESC`;
}

/** Return the histogram as a query to continue from: a row per bin with its lower edge. */
export function binsQuery(table: string, column: Column, range: Range): string {
    const width = Number(((range.to - range.from) / range.bins).toPrecision(3));
    const value = countedExpression(column, range);
    const name = range.log ? 'log_bin_start' : 'bin_start';
    return (
        `SELECT bin * ${width} AS ${name}, COUNT(*) AS n\n` +
        `FROM (SELECT FLOOR(${value} / ${width}) AS bin FROM ${table} WHERE ${column.name} IS NOT NULL) AS bins\n` +
        `GROUP BY bin\nORDER BY ${name}`
    );
}

/** Format a value briefly. */
export function shortValue(value: Value): string {
    if (value === null) return '–';
    if (typeof value === 'bigint') return value.toString();
    if (typeof value === 'string')
        return /^\d{4}-\d\d-\d\dT/.test(value) ? value.replace(/(T[\d:]{8}).*/, '$1') : value;
    if (typeof value !== 'number') return String(value);
    if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
    return String(Number(value.toPrecision(6)));
}

/** Format a part as per cent; "0 %" and "100 %" only if exact. */
export function percentText(part: number, whole: number): string {
    if (!whole || !part) return '0 %';
    if (part === whole) return '100 %';
    const value = (100 * part) / whole;
    if (value < 0.01) return '< 0.01 %';
    if (value > 99.99) return '> 99.99 %';
    return `${Number(value.toPrecision(value > 99 ? 4 : 2))} %`;
}
