/** Computes periodograms in a worker. */

import { computePower, falseAlarmProbability, findPeaks, type FrequencyGrid, type TimeSeries } from './lombScargle';

export interface Periodogram {
    readonly grid: FrequencyGrid;
    /** power, 0 to 1, at each frequency */
    readonly power: Float64Array<ArrayBuffer>;
    /** highest first */
    readonly peaks: readonly { readonly frequency: number; readonly power: number }[];
    /** the probability that noise has a peak as high as the first */
    readonly falseAlarm: number;
}

export interface PeriodogramRequest {
    readonly series: TimeSeries;
    readonly grid: FrequencyGrid;
}

const MOST_PEAKS = 5;

export function computePeriodogram({ series, grid }: PeriodogramRequest): Periodogram {
    const power = computePower(series, grid);
    const peaks = findPeaks(power, MOST_PEAKS).map((at) => ({
        frequency: grid.start + at * grid.step,
        power: power[at]!,
    }));
    return { grid, power, peaks, falseAlarm: falseAlarmProbability(peaks[0]?.power ?? 0, series, grid) };
}

if (typeof WorkerGlobalScope !== 'undefined')
    onmessage = ({ data }: MessageEvent<PeriodogramRequest>) => postMessage(computePeriodogram(data));
