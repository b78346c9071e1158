/** The spectral energy distribution of a row: its magnitudes and flux densities in bands that UCDs name. */

import { toNumber, type Value } from '../tap/jsonRows';
import { findBand, fluxOfMagnitude, janskyPer, type Band } from './photometricBands';

export interface SpectralPoint {
    readonly band: Band;
    /** micrometres */
    readonly wavelength: number;
    /** flux density and its error (NaN if unknown), in jansky */
    readonly flux: number;
    readonly error: number;
    /** where it comes from */
    readonly table: string;
    readonly column: string;
    /** it was a magnitude, taken as one of the Johnson-Cousins-Glass system */
    readonly isMagnitude: boolean;
}

interface Described {
    readonly name: string;
    readonly unit: string;
    readonly ucd: string;
}

/** Return the points of a row; columns without a band, a known unit or a value give none. */
export function spectralPointsOf(table: string, columns: readonly Described[], row: readonly Value[]): SpectralPoint[] {
    return columns.flatMap((column, at) => {
        const band = findBand(column.ucd);
        const value = toNumber(row[at]);
        if (!band || !Number.isFinite(value)) return [];
        const error = toNumber(row[findError(columns, column)]);
        const found = pointOf(column, band, value, error);
        return found ? [{ ...found, band, table, column: column.name }] : [];
    });
}

function pointOf(
    { ucd, unit }: Described,
    band: Band,
    value: number,
    error: number,
): Pick<SpectralPoint, 'wavelength' | 'flux' | 'error' | 'isMagnitude'> | undefined {
    const [first] = ucd.toLowerCase().split(';');
    if (first === 'phot.mag' && band.magnitude) {
        const [flux, spread] = fluxOfMagnitude(value, error, band.magnitude.zero);
        return { wavelength: band.magnitude.wavelength, flux, error: spread, isMagnitude: true };
    }
    const factor = janskyPer(unit);
    if (!first?.startsWith('phot.flux') || factor === undefined || value <= 0) return undefined;
    const [from, to] = band.range;
    return {
        wavelength: band.magnitude?.wavelength ?? Math.sqrt(from * to),
        flux: value * factor,
        error: error * factor,
        isMagnitude: false,
    };
}

/** Find the column of a column's error by its UCD or name; -1 if there is none. */
function findError(columns: readonly Described[], { name, ucd }: Described): number {
    const names = [`e_${name}`, `${name}_error`, `${name}_err`, `${name}err`].map((each) => each.toLowerCase());
    const named = columns.findIndex((other) => names.includes(other.name.toLowerCase()));
    return named >= 0
        ? named
        : columns.findIndex((other) => other.ucd.toLowerCase() === `stat.error;${ucd}`.toLowerCase());
}
