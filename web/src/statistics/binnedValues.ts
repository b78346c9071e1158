/** Middle and spread of y in bins of x. */

export interface Bins {
    /** lower edge of the first bin */
    readonly start: number;
    readonly width: number;
    readonly count: number;
}

export interface BinnedValue {
    readonly from: number;
    readonly to: number;
    readonly rows: number;
    /** mean or median */
    readonly middle: number;
    /** mean ∓ standard deviation, or 16 and 84 %; NaN for a single row */
    readonly low: number;
    readonly high: number;
}

interface Series {
    readonly x: Float64Array;
    readonly y: Float64Array;
    readonly members: Uint32Array;
}

/** The part of a normal distribution below one standard deviation under its mean. */
const LOWER = 0.158655253931457;

/** Return the bins that have rows. */
export function binValues(series: Series, bins: Bins, statistic: 'mean' | 'median'): BinnedValue[] {
    const { starts, values } = sortIntoBins(series, bins);
    return Array.from({ length: bins.count }, (_, bin) => values.subarray(starts[bin]!, starts[bin + 1]!)).flatMap(
        (own, bin) => {
            if (own.length === 0) return [];
            const from = bins.start + bin * bins.width;
            const spread = (statistic === 'mean' ? meanOf : medianOf)(own);
            return [{ from, to: from + bins.width, rows: own.length, ...spread }];
        },
    );
}

/** Gather the values of each bin next to each other. */
function sortIntoBins({ x, y, members }: Series, { start, width, count }: Bins) {
    const indexes = Int32Array.from(members, (at) => Math.floor((x[at]! - start) / width));
    const starts = new Uint32Array(count + 1);
    for (const index of indexes) if (index >= 0 && index < count) starts[index + 1]!++;
    for (let bin = 0; bin < count; bin++) starts[bin + 1]! += starts[bin]!;
    const next = starts.slice();
    const values = new Float64Array(starts[count]!);
    members.forEach((at, k) => {
        const index = indexes[k]!;
        if (index >= 0 && index < count) values[next[index]!++] = y[at]!;
    });
    return { starts, values };
}

type Spread = Pick<BinnedValue, 'middle' | 'low' | 'high'>;

function meanOf(values: Float64Array): Spread {
    let middle = 0;
    values.forEach((value, k) => (middle += (value - middle) / (k + 1)));
    const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
    const deviation = Math.sqrt(squares / (values.length - 1));
    return { middle, low: middle - deviation, high: middle + deviation };
}

function medianOf(values: Float64Array): Spread {
    values.sort();
    const single = values.length === 1;
    return {
        middle: quantileOf(values, 0.5),
        low: single ? NaN : quantileOf(values, LOWER),
        high: single ? NaN : quantileOf(values, 1 - LOWER),
    };
}

/** Return a quantile of sorted values, interpolated linearly. */
export function quantileOf(sorted: Float64Array, part: number): number {
    const index = part * (sorted.length - 1);
    const below = Math.floor(index);
    const above = Math.min(sorted.length - 1, below + 1);
    return sorted[below]! + (index - below) * (sorted[above]! - sorted[below]!);
}
