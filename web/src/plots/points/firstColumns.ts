/** The columns that are plotted first, by UCDs, units and names. */

import type { Field } from '../../model/resultModel';
import { isMagnitude, isPlottable } from './plotSettings';

/** The columns of a light curve; -1 for none. */
export type Curve = { time: number; flux: number; band: number };

/** Find the main position columns, otherwise the first ones; -1 if there are none. */
export function findPosition(fields: readonly Field[]): readonly [number, number] {
    for (const [longitude, latitude] of [
        ['pos.eq.ra', 'pos.eq.dec'],
        ['pos.galactic.lon', 'pos.galactic.lat'],
    ] as const) {
        const found = [findByUcd(fields, longitude), findByUcd(fields, latitude)] as const;
        if (found[0] >= 0 && found[1] >= 0) return found;
    }
    for (const [longitude, latitude] of [
        [/^_?ra(_?j2000|_?icrs|deg)?$/i, /^_?de(c|j2000|_icrs|c?_?j2000|cdeg|deg)?$/i],
        [/^l$|^glon$/i, /^b$|^glat$/i],
    ] as const) {
        const found = [findByName(fields, longitude), findByName(fields, latitude)] as const;
        if (found[0] >= 0 && found[1] >= 0) return found;
    }
    return [-1, -1];
}

function findByUcd(fields: readonly Field[], ucd: string): number {
    const main = fields.findIndex((field) => isPlottable(field) && field.ucd === `${ucd};meta.main`);
    return main >= 0
        ? main
        : fields.findIndex((field) => isPlottable(field) && (field.ucd ?? '').split(';')[0] === ucd);
}

export const findByName = (fields: readonly Field[], name: RegExp) =>
    fields.findIndex((field) => isPlottable(field) && name.test(field.name));

/** Bands from blue to red, by UCD. */
const BANDS = ['em.UV', 'em.opt.U', 'em.opt.B', 'em.opt.V', 'em.opt.R', 'em.opt.I', 'em.IR.J', 'em.IR.H', 'em.IR.K'];

/** Choose a colour-magnitude diagram if there are two bands, otherwise the first two numeric columns. */
export function findPlane(fields: readonly Field[]): [{ column: number; minus: number }, { column: number }] {
    const magnitudes = fields.flatMap((field, at) => {
        const band = BANDS.findIndex((name) => (field.ucd ?? '').includes(name));
        return isPlottable(field) && isMagnitude(field) && !/\.sb|color/.test(field.ucd ?? '') ? [{ at, band }] : [];
    });
    const banded = magnitudes.filter(({ band }) => band >= 0).sort((a, b) => a.band - b.band);
    const blue = banded.find(({ band }) => band >= BANDS.indexOf('em.opt.B')) ?? banded[0];
    const red = banded.find(({ band }) => blue && band > blue.band);
    const colour = fields.findIndex((field) => isPlottable(field) && /^phot\.color/.test(field.ucd ?? ''));
    const broad = magnitudes.find(({ band }) => band < 0);
    if (blue && red) return [{ column: blue.at, minus: red.at }, { column: broad?.at ?? red.at }];
    if (colour >= 0 && magnitudes[0]) return [{ column: colour, minus: -1 }, { column: magnitudes[0].at }];
    const numbers = [...fields.keys()].filter((at) => isMeasure(fields[at]!));
    const all = numbers.length >= 2 ? numbers : [...fields.keys()].filter((at) => isPlottable(fields[at]!));
    return [{ column: all[0] ?? -1, minus: -1 }, { column: all[1] ?? -1 }];
}

/** Whether a number is a measurement, not an identifier, flag or error. */
const isMeasure = (field: Field) =>
    (field.kind === 'number' || field.kind === 'time') && !/^(meta|stat)\./.test(field.ucd ?? '');

export function findLightCurve(fields: readonly Field[]): Curve {
    const epoch = findByUcd(fields, 'time.epoch');
    const instant = fields.findIndex((field) => field.kind === 'time');
    const time = epoch >= 0 ? epoch : instant >= 0 ? instant : findByName(fields, /^(h|b)?(mjd|jd)|^(obs_?)?time$/i);
    const flux = fields.findIndex(
        (field) => isPlottable(field) && (isMagnitude(field) || /^phot\.flux/.test(field.ucd ?? '')),
    );
    const named = fields.findIndex(({ ucd }) => (ucd ?? '').split(';').includes('instr.bandpass'));
    const band = named >= 0 ? named : fields.findIndex(({ name }) => /^(band|filter|filt|passband|fid)$/i.test(name));
    const numbers = [...fields.keys()].filter((at) => isMeasure(fields[at]!) && at !== time);
    return { time, flux: flux >= 0 ? flux : time >= 0 ? (numbers[0] ?? -1) : -1, band };
}
