/**
 * The Lomb-Scargle periodogram with a floating mean (Zechmeister & Kürster 2009, A&A 496, 577, equations 4 to 15), in the
 * standard normalization, and the false-alarm probability of its highest peak (Baluev 2008, MNRAS 385, 1279).
 */

/** A regular grid of frequencies, in cycles a day. */
export interface FrequencyGrid {
    readonly start: number;
    readonly step: number;
    readonly count: number;
}

/** Times in days; values; their errors, 1 standard deviation, in the unit of the values, if they are known. */
export interface TimeSeries {
    readonly times: Float64Array;
    readonly values: Float64Array;
    readonly errors?: Float64Array | undefined;
}

/** Frequencies for each peak's width. */
const SAMPLES_PER_PEAK = 5;
/** The highest frequency, in mean Nyquist frequencies: irregular samples see beyond the first. */
const NYQUIST_FACTOR = 5;
/** The work grows with rows times frequencies. */
const MAX_FREQUENCIES = 200_000;

/**
 * Return the grid for a series (VanderPlas 2018, ApJS 236, 16, section 7.1): as fine as its span asks, up to five mean Nyquist
 * frequencies, or to the frequency of the shortest period, in days. Undefined if its times do not differ.
 */
export function chooseGrid(times: Float64Array, shortest?: number): FrequencyGrid | undefined {
    const span = spanOf(times);
    if (!(span > 0)) return undefined;
    const step = 1 / span / SAMPLES_PER_PEAK;
    const highest = shortest ? 1 / shortest : (NYQUIST_FACTOR * 0.5 * times.length) / span;
    const count = 1 + Math.round((highest - step / 2) / step);
    return { start: step / 2, step, count: Math.max(2, Math.min(MAX_FREQUENCIES, count)) };
}

function spanOf(times: Float64Array): number {
    let [first, last] = [Infinity, -Infinity];
    for (const time of times) [first, last] = [Math.min(first, time), Math.max(last, time)];
    return last - first;
}

/** Return the power, 0 to 1, at each frequency of the grid. */
export function computePower({ times, values, errors }: TimeSeries, grid: FrequencyGrid): Float64Array<ArrayBuffer> {
    const rows = times.length;
    const weights = weightsOf(rows, errors);
    const mean = weights.reduce((sum, weight, k) => sum + weight * values[k]!, 0);
    const [weighted, spread] = [new Float64Array(rows), { sum: 0 }];
    for (let k = 0; k < rows; k++) {
        const centred = values[k]! - mean;
        weighted[k] = weights[k]! * centred;
        spread.sum += weighted[k]! * centred;
    }
    const phases = new Phases(times, grid);
    const power = new Float64Array(grid.count);
    for (let at = 0; at < grid.count; at++) {
        power[at] = spread.sum > 0 ? powerAt(phases, weights, weighted) / spread.sum : 0;
        phases.advance();
    }
    return power;
}

function weightsOf(rows: number, errors: Float64Array | undefined): Float64Array {
    const weights = new Float64Array(rows).fill(1);
    if (errors) for (let k = 0; k < rows; k++) weights[k] = errors[k]! ** -2;
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
}

/** Return the part of the weighted variance that a sine with a floating mean explains. */
function powerAt({ cosines, sines }: Phases, weights: Float64Array, weighted: Float64Array): number {
    let [c, s, yc, ys, cc, cs] = [0, 0, 0, 0, 0, 0];
    for (let k = 0; k < weights.length; k++) {
        const [weight, value, cosine, sine] = [weights[k]!, weighted[k]!, cosines[k]!, sines[k]!];
        c += weight * cosine;
        s += weight * sine;
        yc += value * cosine;
        ys += value * sine;
        cc += weight * cosine * cosine;
        cs += weight * cosine * sine;
    }
    const [ccHat, ssHat, csHat] = [cc - c * c, 1 - cc - s * s, cs - c * s];
    const determinant = ccHat * ssHat - csHat * csHat;
    if (!(determinant > 1e-15)) return 0;
    return (ssHat * yc * yc + ccHat * ys * ys - 2 * csHat * yc * ys) / determinant;
}

/** Cosine and sine of each time's phase at the current frequency, turned from one frequency to the next. */
class Phases {
    readonly cosines: Float64Array;
    readonly sines: Float64Array;
    readonly #times: Float64Array;
    readonly #turns: readonly [Float64Array, Float64Array];
    readonly #grid: FrequencyGrid;
    #at = 0;

    constructor(times: Float64Array, grid: FrequencyGrid) {
        this.#grid = grid;
        const first = times[0] ?? 0;
        this.#times = times.map((time) => time - first);
        const angles = this.#times.map((time) => 2 * Math.PI * grid.step * time);
        this.#turns = [angles.map(Math.cos), angles.map(Math.sin)];
        [this.cosines, this.sines] = [new Float64Array(times.length), new Float64Array(times.length)];
        this.#computeExactly();
    }

    advance(): void {
        this.#at++;
        // each turn adds a rounding error: now and then the phases are computed again
        if (this.#at % 256 === 0) return this.#computeExactly();
        const [turnCosines, turnSines] = this.#turns;
        for (let k = 0; k < this.cosines.length; k++) {
            const [cosine, sine] = [this.cosines[k]!, this.sines[k]!];
            this.cosines[k] = cosine * turnCosines[k]! - sine * turnSines[k]!;
            this.sines[k] = sine * turnCosines[k]! + cosine * turnSines[k]!;
        }
    }

    #computeExactly(): void {
        const frequency = this.#grid.start + this.#at * this.#grid.step;
        for (let k = 0; k < this.cosines.length; k++) {
            const angle = 2 * Math.PI * ((frequency * this.#times[k]!) % 1);
            [this.cosines[k], this.sines[k]] = [Math.cos(angle), Math.sin(angle)];
        }
    }
}

/**
 * Return the probability that noise alone has a peak this high anywhere in the grid: Baluev's bound for a floating mean and the
 * standard normalization. Never below it for Gaussian errors.
 */
export function falseAlarmProbability(power: number, { times, errors }: TimeSeries, grid: FrequencyGrid): number {
    const rows = times.length;
    if (rows < 5) return 1;
    const weights = weightsOf(rows, errors);
    const mean = times.reduce((sum, time, k) => sum + weights[k]! * time, 0);
    const variance = times.reduce((sum, time, k) => sum + weights[k]! * (time - mean) ** 2, 0);
    const highest = grid.start + (grid.count - 1) * grid.step;
    const width = highest * Math.sqrt(4 * Math.PI * variance);
    const [free, left] = [rows - 1, rows - 3];
    const single = (1 - power) ** (0.5 * left);
    const gamma = Math.sqrt(2 / free) * Math.exp(logGamma(free / 2) - logGamma((free - 1) / 2));
    const crossings = gamma * width * (1 - power) ** (0.5 * (left - 1)) * Math.sqrt(0.5 * free * power);
    // 1 - (1 - a) exp(-b) without the loss of small values
    return -Math.expm1(-crossings) + single * Math.exp(-crossings);
}

/** Lanczos' approximation (g = 7, 9 terms), relative error below 1e-13 for positive arguments. */
function logGamma(x: number): number {
    const terms = [
        676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
        -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
    ];
    const z = x - 1;
    const sum = terms.reduce((total, term, k) => total + term / (z + k + 1), 0.99999999999980993);
    const t = z + 7.5;
    return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(sum);
}

/** Return the highest peaks: indexes in the grid, highest first, none within one peak's width of a higher one. */
export function findPeaks(power: Float64Array, most: number): number[] {
    const tops = [...power.keys()].filter(
        (at) => power[at]! > (power[at - 1] ?? -1) && power[at]! >= (power[at + 1] ?? -1),
    );
    tops.sort((one, other) => power[other]! - power[one]!);
    const found: number[] = [];
    for (const at of tops) {
        if (found.length === most) break;
        if (found.every((peak) => Math.abs(peak - at) > SAMPLES_PER_PEAK)) found.push(at);
    }
    return found;
}
