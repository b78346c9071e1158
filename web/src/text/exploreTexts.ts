import { formatCount, formatCounted, formatDuration } from './numberFormat';

/** Round an estimate to the digits that its error supports. */
function roundedTo(rows: number, error: number): string {
    const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(error, 1))));
    return formatCount(Math.round(rows / step) * step);
}

export const exploreTexts = {
    open: 'Explore',
    openOf: (table: string) => `Explore all of ${table} in linked panels`,
    title: (table: string) => `Explore ${table}`,
    page: '← Table page',
    intro: 'Drag in a panel to choose a range, a box or a circle: all other panels show the rows that remain. Drag a choice to move it; click outside it to remove it.',
    sampling: (rows: number) => (rows > 0 ? `Taking a sample of ${formatCounted(rows, 'row')} …` : 'Taking a sample …'),
    asJob: 'This takes longer than a request allows: it runs as a job.',
    refining: 'Taking a finer sample of the rows that remain …',
    retry: 'Try again',
    failed: (why: string) => `The sample could not be taken: ${why}`,
    unrefined: (why: string) => `The panels show the coarser sample, because a finer one could not be taken: ${why}`,
    cut: 'the row limit of the service cut it. Choose a smaller sample.',
    unknown: (names: string) => `The table has no such numeric columns, so they are ignored: ${names}`,
    nothing: 'The table has no columns of numbers or instants.',
    ofRows: (rows: number) => `of ${formatCounted(rows, 'row')}`,
    about: (rows: number, error: number) => `about ${roundedTo(rows, error)} ± ${roundedTo(error, error)}`,
    none: (most: number) => `fewer than about ${roundedTo(most, most)}`,
    exactly: (rows: number) => formatCount(rows),
    isExact: 'counted exactly',
    isAll: 'all rows are here',
    counting: 'counting exactly …',
    uncounted: (why: string) => `estimated; not counted exactly: ${why}`,
    tooLong: (seconds: number | null) =>
        `estimated; counting exactly takes ${seconds ? `about ${formatDuration(seconds)}` : 'long'}`,
    countAsJob: 'Count exactly (as a job)',
    sampled: (rows: number, percent: number) =>
        percent < 100
            ? `Panels: a sample of ${formatCounted(rows, 'row')}, ${Number(percent.toPrecision(2))} %, scaled to the table.`
            : `Panels: all ${formatCounted(rows, 'row')}.`,
    refined: (rows: number, percent: number) =>
        percent < 100
            ? `Rows that remain: a finer sample of ${formatCount(rows)}, ${Number(percent.toPrecision(2))} %.`
            : `Rows that remain: all ${formatCount(rows)}.`,
    sampleSize: 'Sample',
    sampleRows: (rows: number) => formatCounted(rows, 'row'),
    zoom: 'Zoom to the filters',
    clear: 'Remove all filters',
    rowsOpen: 'Open as query',
    rowsRun: 'Get these rows',
    copy: 'Copy ADQL',
    adql: 'The rows that remain, as ADQL',
    queryTitle: (table: string) => `Rows of ${table}`,
    histogram: (name: string) => `Histogram of ${name}`,
    plane: (x: string, y: string) => `Density of ${y} against ${x}`,
    sky: 'Sky',
    skyLabel: (table: string) => `Density of the rows of ${table} on the sky`,
    rows: 'rows',
    column: 'Column',
    horizontal: 'Horizontal',
    vertical: 'Vertical',
    minus: (role: string) => `${role}, minus`,
    minusNone: '− none',
    from: (name: string) => `Least ${name}`,
    to: (name: string) => `Greatest ${name}`,
    between: 'to',
    clearOne: (name: string) => `Remove the filter of ${name}`,
    ra: 'Right ascension of the circle, degrees',
    dec: 'Declination of the circle, degrees',
    radius: 'Radius of the circle, degrees',
    radiusShort: 'radius',
    remove: (name: string) => `Remove the histogram of ${name}`,
    add: 'Add a histogram',
} as const;
