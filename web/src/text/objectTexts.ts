import { formatCounted } from './numberFormat';

const angle = (degrees: number): string => {
    if (degrees >= 1) return `${Number(degrees.toPrecision(4))}°`;
    return degrees >= 1 / 60
        ? `${Number((degrees * 60).toPrecision(4))}′`
        : `${Number((degrees * 3600).toPrecision(4))}″`;
};

export const objectTexts = {
    heading: 'Object',
    angle,
    find: 'Find an object',
    what: 'Type a name or a position to see what every table contains at that position: rows, light curves, the spectral energy distribution, a finding chart.',
    /** the first name of a row; `table` is '' if Sesame knows the name */
    known: ({ main_name, table }: { main_name: string; table: string }) =>
        table ? `${main_name} in ${table}` : 'Found by Sesame (CDS)',
    target: 'Name or position',
    radius: 'Radius (arcsec)',
    show: 'Show',
    radiusRange: 'The radius must be between 0.1 and 3600 arcsec.',
    equatorial: 'ICRS',
    sexagesimal: 'ICRS, hours and degrees',
    galactic: 'Galactic',
    matches: 'Rows in the tables',
    asking: 'Asking …',
    noTables: 'No table of this service has positions.',
    nothing: (radius: number) => `No row within ${angle(radius)}.`,
    rows: (count: number, cut: boolean) => (cut ? `the nearest ${count} rows` : formatCounted(count, 'row')),
    nearest: (separation: number) => `nearest at ${angle(separation)}`,
    openQuery: 'Open query',
    more: 'More columns',
    seriesOf: (table: string) => `Light curve from ${table}`,
    points: (count: number) => formatCounted(count, 'point'),
    band: 'Band',
    anyBand: '(no band)',
    fold: 'Fold',
    period: 'Period (days)',
    epoch: 'Epoch of phase 0 (MJD)',
    shortest: 'Shortest period (days)',
    shortestDefault: 'from the sampling',
    findPeriod: 'Find the period',
    searching: 'Searching …',
    phase: 'Phase',
    time: 'MJD',
    curveLabel: (table: string, points: number, folded: string) =>
        `Light curve from ${table} with ${formatCounted(points, 'point')}${folded && `, folded by ${folded} days`}.`,
    periodogram: 'Lomb-Scargle periodogram',
    periodogramLabel: (period: string) => `Lomb-Scargle periodogram; the highest peak is at ${period} days.`,
    frequency: 'Frequency [1/d]',
    power: 'Power',
    falseAlarm: (probability: string) =>
        `Probability that noise has a peak as high (Baluev's bound): ${probability}. Uneven sampling causes aliases: check the other peaks too.`,
    peaks: 'Periods of the highest peaks, in days',
    tooFew: 'A period needs at least five points at different times.',
    spectrum: 'Spectral energy distribution',
    noSpectrum: 'No row within 10″ has magnitudes or flux densities in bands that UCDs name.',
    spectrumRows: 'Of the nearest row of each table within 10″.',
    spectrumLabel: (points: number) => `Spectral energy distribution with ${formatCounted(points, 'point')}.`,
    wavelength: 'Wavelength [µm]',
    flux: 'Flux density [Jy]',
    assumed:
        'Magnitudes are taken as Vega magnitudes of the Johnson-Cousins-Glass bands that their UCDs name (zero points: Bessell et al. 1998). Other systems differ by tenths of a magnitude.',
    chart: 'Finding chart',
    chartLabel: (count: number, size: string) =>
        `Finding chart, ${size} across, with ${formatCounted(count, 'neighbour')}.`,
    years: 'Proper motions over (years)',
    arrows: 'Arrows: proper motion over that time, from the epoch of each table.',
    north: 'N',
    east: 'E',
    describe: (table: string, separation: number, magnitude: number) =>
        `${table} · ${angle(separation)}${Number.isFinite(magnitude) ? ` · ${magnitude.toFixed(2)} mag` : ''}`,
} as const;
