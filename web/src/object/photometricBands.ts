/**
 * Bands of the electromagnetic spectrum as UCDs name them.
 *
 * Ranges: UCD1+ list of the IVOA, version 1.5. Zero points of magnitudes (flux density of magnitude 0) and effective wavelengths:
 * Bessell, Castelli & Plez 1998, A&A 333, 231, table A2, for the Johnson-Cousins-Glass system (Vega).
 */

export interface Band {
    /** the UCD word */
    readonly ucd: string;
    readonly name: string;
    /** range in micrometres */
    readonly range: readonly [number, number];
    /** effective wavelength in micrometres and zero point in jansky, where magnitudes have one */
    readonly magnitude?: { readonly wavelength: number; readonly zero: number };
}

const band = (ucd: string, from: number, to: number, wavelength?: number, zero?: number): Band => ({
    ucd,
    name: ucd.split('.').slice(2).join('.') || ucd.slice(3),
    range: [from, to],
    ...(wavelength !== undefined && zero !== undefined && { magnitude: { wavelength, zero } }),
});

export const BANDS: readonly Band[] = [
    band('em.UV.10-50nm', 0.01, 0.05),
    band('em.UV.50-100nm', 0.05, 0.1),
    band('em.UV.100-200nm', 0.1, 0.2),
    band('em.UV.200-300nm', 0.2, 0.3),
    band('em.opt.U', 0.3, 0.4, 0.366, 1790),
    band('em.opt.B', 0.4, 0.5, 0.438, 4063),
    band('em.opt.V', 0.5, 0.6, 0.545, 3636),
    band('em.opt.R', 0.6, 0.75, 0.641, 3064),
    band('em.opt.I', 0.75, 1.0, 0.798, 2416),
    band('em.IR.J', 1.0, 1.5, 1.22, 1589),
    band('em.IR.H', 1.5, 2.0, 1.63, 1021),
    band('em.IR.K', 2.0, 3.0, 2.19, 640),
    band('em.IR.3-4um', 3, 4),
    band('em.IR.4-8um', 4, 8),
    band('em.IR.8-15um', 8, 15),
    band('em.IR.15-30um', 15, 30),
    band('em.IR.30-60um', 30, 60),
    band('em.IR.60-100um', 60, 100),
];

const BY_UCD = new Map(BANDS.map((each) => [each.ucd.toLowerCase(), each]));

/** Find the band in a UCD; undefined if it names none of them. */
export function findBand(ucd: string): Band | undefined {
    for (const word of ucd.toLowerCase().split(';')) {
        const found = BY_UCD.get(word);
        if (found) return found;
    }
    return undefined;
}

/** Return the flux density of a magnitude and its error, in jansky. */
export function fluxOfMagnitude(magnitude: number, error: number, zero: number): readonly [number, number] {
    const flux = zero * 10 ** (-0.4 * magnitude);
    return [flux, 0.4 * Math.LN10 * flux * error];
}

const JANSKY: Readonly<Record<string, number>> = { MJy: 1e6, kJy: 1e3, Jy: 1, mJy: 1e-3, uJy: 1e-6, nJy: 1e-9 };

/** Return the factor from a unit of flux density to jansky; undefined for other units. */
export const janskyPer = (unit: string): number | undefined => JANSKY[unit.trim()];
