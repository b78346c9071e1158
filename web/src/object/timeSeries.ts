/** Time series of an object: rows of JSON to numbers, folding, bands. */

import { parseMjd } from '../model/instants';
import { toNumber, type Rows, type Value } from '../tap/jsonRows';

/** JD are larger than any MJD of an observation. */
const LEAST_JD = 2_400_000;
const JD_OF_MJD_0 = 2_400_000.5;

export interface ObservedSeries {
    /** MJD */
    readonly times: Float64Array;
    readonly values: Float64Array;
    /** NaN where unknown */
    readonly errors: Float64Array;
    /** '' without bands */
    readonly bands: readonly string[];
    /** label and unit of the values */
    readonly label: string;
    readonly isMagnitude: boolean;
}

/** Read the answer to a `seriesQuery`: time, value, then error and band as the table has them. */
export function readSeries(rows: Rows, has: { readonly error?: string; readonly band?: string }): ObservedSeries {
    const [value] = rows.columns.slice(1);
    const good = rows.data
        .map((row) => ({ time: timeOf(row[0]), value: toNumber(row[1]), row }))
        .filter((each) => Number.isFinite(each.time) && Number.isFinite(each.value));
    const bandAt = has.error ? 3 : 2;
    return {
        times: Float64Array.from(good, ({ time }) => time),
        values: Float64Array.from(good, (each) => each.value),
        errors: Float64Array.from(good, ({ row }) => (has.error ? toNumber(row[2]) : NaN)),
        bands: good.map(({ row }) => (has.band ? String(row[bandAt] ?? '') : '')),
        label: value ? value.name + (value.unit ? ` [${value.unit}]` : '') : '',
        isMagnitude: value?.unit === 'mag' || /^phot\.mag/i.test(value?.ucd ?? ''),
    };
}

function timeOf(value: Value | undefined): number {
    if (typeof value === 'string') return parseMjd(value);
    const number = toNumber(value);
    return number > LEAST_JD ? number - JD_OF_MJD_0 : number;
}

/** Return the bands of a series, the one with most rows first. */
export function listBands({ bands }: ObservedSeries): string[] {
    const counts = new Map<string, number>();
    for (const band of bands) counts.set(band, (counts.get(band) ?? 0) + 1);
    return [...counts].sort((one, other) => other[1] - one[1]).map(([band]) => band);
}

/** Return the rows of one band. */
export function seriesOfBand(series: ObservedSeries, band: string): ObservedSeries {
    const rows = [...series.bands.keys()].filter((at) => series.bands[at] === band);
    const pick = (values: Float64Array) => Float64Array.from(rows, (at) => values[at]!);
    return {
        ...series,
        times: pick(series.times),
        values: pick(series.values),
        errors: pick(series.errors),
        bands: rows.map(() => band),
    };
}

/** Return the phase, 0 to 1, of a time for a period in days; `epoch` is the time of phase 0. */
export function phaseOf(time: number, period: number, epoch: number): number {
    const turns = (time - epoch) / period;
    return turns - Math.floor(turns);
}
