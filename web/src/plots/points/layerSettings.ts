/** The settings of the layers of a plot, as plain values. */

/** A column of errors: found by UCD and name; for a difference of two columns, from both errors. */
export const AUTOMATIC = -2;
export const NO_COLUMN = -1;

/** A quantity of another table, by the names of its columns; '' is none. */
export interface NamedQuantity {
    readonly column: string;
    readonly minus: string;
}

/** The rows of another open table. */
export interface Overlay {
    /** its id among the open tables */
    readonly table: string;
    /** its title when it was added */
    readonly title: string;
    /** its quantity for each axis (a role such as 'x'); missing ones are found by name and UCD */
    readonly axes: Readonly<Record<string, NamedQuantity>>;
}

export const CONTOURS = ['none', 'enclosed', 'peak'] as const;
export const STATISTICS = ['none', 'mean', 'median'] as const;

export interface LayerSettings {
    /** columns of half error bars: `AUTOMATIC`, `NO_COLUMN` or a column. Light curves have `error` of the plot */
    readonly xError: number;
    readonly yError: number;
    /** columns of the upper half where it differs from the lower one */
    readonly xErrorUp: number;
    readonly yErrorUp: number;
    /** points are connected in order, separately for each colour */
    readonly connected: boolean;
    /** the column that orders them; `NO_COLUMN`: the horizontal axis */
    readonly orderedBy: number;
    /** levels: fractions of the rows in view that they enclose, or of the highest density */
    readonly contours: (typeof CONTOURS)[number];
    /** factor on the default smoothing of contours */
    readonly smoothing: number;
    /** histograms of the rows in view, above the plot and to its right */
    readonly marginals: boolean;
    /** mean and standard deviation, or median and 16 to 84 %, in bins of the horizontal axis */
    readonly statistic: (typeof STATISTICS)[number];
    /** about how many bins; 0: chosen from the data */
    readonly statisticBins: number;
    /** a straight line by least squares */
    readonly fitted: boolean;
    readonly overlays: readonly Overlay[];
}
