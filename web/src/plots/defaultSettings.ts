/** The first plot of a table, chosen by UCDs, units and names. */

import type { Field } from '../model/resultModel';
import { cornerSettings, spaceSettings } from './formDefaults';
import { AUTOMATIC, NO_LAYERS } from '../layers/layerSettings';
import {
    isMagnitude,
    NO_AXIS,
    isPlottable,
    type Axis,
    type PlotKind,
    type PlotSettings,
    type Quantity,
} from './plotSettings';

/** Return the first settings of a table's plot. */
export function defaultSettings(fields: readonly Field[]): PlotSettings {
    const sky = findPosition(fields);
    const [x, y] = findPlane(fields);
    const curve = findLightCurve(fields);
    const axis = (column: number, minus = -1): Axis => ({ ...NO_AXIS, column, minus });
    return {
        kind: firstKind(fields, sky, curve, y.column),
        axes: {
            x: axis(x.column, x.minus),
            y: axis(y.column),
            value: axis(y.column >= 0 ? y.column : x.column),
            longitude: axis(sky[0]),
            latitude: axis(sky[1]),
            time: axis(curve.time),
            flux: axis(curve.flux),
        },
        colour: -1,
        band: curve.band,
        error: findCurveError(fields, curve),
        frame: isGalactic(fields[sky[0]]) ? 'galactic' : 'equatorial',
        centre: undefined,
        skyStyle: 'points',
        coarseness: 1,
        bins: 0,
        logCounts: false,
        size: 1,
        period: 0,
        phaseZero: undefined,
        calendar: fields[curve.time]?.kind === 'time',
        layers: NO_LAYERS,
        corner: cornerSettings(fields, x, y.column),
        space: spaceSettings(fields, x, y.column, sky[0] >= 0),
    };
}

/** Find the errors of a light curve: those of its values, else a column that is called so. */
function findCurveError(fields: readonly Field[], { time, flux }: Curve): number {
    const own = findErrorColumn(fields, flux);
    return own >= 0 || time < 0 ? own : findByName(fields, /^(e|err|error|sigma|uncertainty)$/i);
}

type Curve = { time: number; flux: number; band: number };

function firstKind(fields: readonly Field[], sky: readonly [number, number], curve: Curve, y: number): PlotKind {
    if (sky[0] >= 0) return 'sky';
    if (curve.time >= 0 && curve.flux >= 0 && curve.time !== curve.flux) return 'curve';
    return y >= 0 || fields.filter(isPlottable).length !== 1 ? 'scatter' : 'histogram';
}

/** Whether a longitude is galactic. */
const isGalactic = (field: Field | undefined): boolean => (field?.ucd ?? '').startsWith('pos.galactic');

/** Whether the longitudes of a column are galactic, by its UCD or name. */
export const isGalacticColumn = (field: Field | undefined): boolean =>
    isGalactic(field) || /^(l|glon)$/i.test(field?.name ?? '');

/** Find the main position columns, else the first ones; -1 if there are none. */
function findPosition(fields: readonly Field[]): readonly [number, number] {
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

const findByName = (fields: readonly Field[], name: RegExp) =>
    fields.findIndex((field) => isPlottable(field) && name.test(field.name));

/** Bands from blue to red, by UCD. */
const BANDS = ['em.UV', 'em.opt.U', 'em.opt.B', 'em.opt.V', 'em.opt.R', 'em.opt.I', 'em.IR.J', 'em.IR.H', 'em.IR.K'];

/** Choose a colour-magnitude diagram if there are two bands, else the first two numbers. */
function findPlane(fields: readonly Field[]): [{ column: number; minus: number }, { column: number }] {
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

function findLightCurve(fields: readonly Field[]): Curve {
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

/** Find the error column of another column by name or UCD; -1 if there is none. */
export function findErrorColumn(fields: readonly Field[], of: number): number {
    const field = fields[of];
    if (!field) return -1;
    const names = [`e_${field.name}`, `${field.name}_error`, `${field.name}_err`, `${field.name}err`].map((n) =>
        n.toLowerCase(),
    );
    const named = fields.findIndex((other) => isPlottable(other) && names.includes(other.name.toLowerCase()));
    if (named >= 0 || !field.ucd) return named;
    return fields.findIndex((other) => isPlottable(other) && other.ucd === `stat.error;${field.ucd}`);
}

/** Return the error columns of a quantity, both of a difference; none if one has no errors. */
export function errorColumns(fields: readonly Field[], quantity: Quantity, chosen: number): number[] {
    if (chosen !== AUTOMATIC) return fields[chosen] ? [chosen] : [];
    const parts = [quantity.column, ...(quantity.minus >= 0 ? [quantity.minus] : [])];
    const found = parts.map((part) => findErrorColumn(fields, part));
    return found.every((column) => column >= 0) ? found : [];
}
