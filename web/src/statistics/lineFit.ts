/** Straight lines by least squares, with standard errors (Bevington & Robinson 2003, chapter 6). */

export interface LineFit {
    /** y = intercept + slope x */
    readonly intercept: number;
    readonly slope: number;
    /** standard errors: from the scatter about the line, or from the given errors of y */
    readonly interceptError: number;
    readonly slopeError: number;
    readonly covariance: number;
    /** root mean square of the residuals */
    readonly rms: number;
    readonly count: number;
    /** chi square per degree of freedom; undefined without errors of y */
    readonly chiSquare: number | undefined;
    /** where intercept and slope are uncorrelated, and the variance of the line there */
    readonly pivot: number;
    readonly pivotVariance: number;
    /** range of x */
    readonly from: number;
    readonly to: number;
}

export interface FitRows {
    readonly x: Float64Array;
    readonly y: Float64Array;
    /** the rows to fit, as indices into x and y */
    readonly members: Uint32Array;
    /** errors of y; rows without a positive one are left out */
    readonly errors?: Float64Array | undefined;
}

/** Least number of rows with a standard error. */
const LEAST_ROWS = 3;

/** Fit a line; undefined for fewer than three rows or a single x. */
export function fitLine(rows: FitRows): LineFit | undefined {
    const means = weightedMeans(rows);
    if (means.count < LEAST_ROWS) return undefined;
    const { xx, xy } = momentsAbout(rows, means);
    // rounding leaves some of the square of a constant x
    if (!(xx > 1e-24 * means.weight * means.x * means.x)) return undefined;
    const slope = xy / xx;
    const { squares, chi } = residualsOf(rows, means, slope);
    const freedom = means.count - 2;
    const variance = rows.errors ? 1 : squares / freedom;
    const [pivotVariance, slopeVariance] = [variance / means.weight, variance / xx];
    return {
        intercept: means.y - slope * means.x,
        slope,
        interceptError: Math.sqrt(pivotVariance + means.x * means.x * slopeVariance),
        slopeError: Math.sqrt(slopeVariance),
        covariance: -means.x * slopeVariance,
        rms: Math.sqrt(squares / means.count),
        count: means.count,
        chiSquare: rows.errors ? chi / freedom : undefined,
        pivot: means.x,
        pivotVariance,
        from: means.from,
        to: means.to,
    };
}

/** Return the line and its standard error at a position. */
export function lineAt(fit: LineFit, x: number): { y: number; error: number } {
    const away = x - fit.pivot;
    const error = Math.sqrt(fit.pivotVariance + (away * fit.slopeError) ** 2);
    return { y: fit.intercept + fit.slope * x, error };
}

/**
 * Return where a line is best described: 0, or a round position near the pivot if 0 is far away, as in dates, where the
 * intercept would be an extrapolation.
 */
export function originOf({ pivot, from, to }: LineFit): number {
    const range = to - from;
    if (Math.abs(pivot) < 10 * range) return 0;
    const step = 10 ** Math.floor(Math.log10(range / 10));
    // few digits: multiples of a power of ten are not exact below 1
    return Number((Math.round(pivot / step) * step).toPrecision(12));
}

/** Return the weight of a row; 0 if it has no error. */
function weightOf(errors: Float64Array | undefined, at: number): number {
    if (!errors) return 1;
    const error = errors[at]!;
    return error > 0 && Number.isFinite(error) ? 1 / (error * error) : 0;
}

function weightedMeans({ x, y, members, errors }: FitRows) {
    let [weight, meanX, meanY, count, from, to] = [0, 0, 0, 0, Infinity, -Infinity];
    for (const at of members) {
        const own = weightOf(errors, at);
        if (own === 0) continue;
        count++;
        weight += own;
        // running means: sums of large numbers such as dates lose digits
        meanX += ((x[at]! - meanX) * own) / weight;
        meanY += ((y[at]! - meanY) * own) / weight;
        if (x[at]! < from) from = x[at]!;
        if (x[at]! > to) to = x[at]!;
    }
    return { weight, x: meanX, y: meanY, count, from, to };
}

function momentsAbout({ x, y, members, errors }: FitRows, mean: { x: number; y: number }) {
    let [xx, xy] = [0, 0];
    for (const at of members) {
        const own = weightOf(errors, at);
        const away = x[at]! - mean.x;
        xx += own * away * away;
        xy += own * away * (y[at]! - mean.y);
    }
    return { xx, xy };
}

function residualsOf({ x, y, members, errors }: FitRows, mean: { x: number; y: number }, slope: number) {
    let [squares, chi] = [0, 0];
    for (const at of members) {
        const own = weightOf(errors, at);
        if (own === 0) continue;
        const residual = y[at]! - mean.y - slope * (x[at]! - mean.x);
        squares += residual * residual;
        chi += own * residual * residual;
    }
    return { squares, chi };
}
