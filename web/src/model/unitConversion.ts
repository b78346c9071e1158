/** Conversion of values between units of one kind: arcsec to deg, km/s to m.s**-1. */

import { unitFactors } from '../text/unitFormat';

type Quantity = 'angle' | 'length' | 'time' | 'mass' | 'temperature' | 'current' | 'magnitude' | 'decades' | 'count';
type Powers = Readonly<Partial<Record<Quantity, number>>>;

/** A unit in radians, metres, seconds, kilograms, kelvins, amperes, magnitudes ... */
interface Measure {
    readonly size: number;
    readonly powers: Powers;
}

const DEGREE = Math.PI / 180;
const YEAR = 365.25 * 86_400;
const FLUX_DENSITY: Powers = { mass: 1, time: -2 };
const ENERGY: Powers = { mass: 1, length: 2, time: -2 };
const POWER: Powers = { mass: 1, length: 2, time: -3 };

/** IAU 2015 nominal values for the Sun, CODATA 2018 for the others. */
const UNITS: Readonly<Record<string, readonly [number, Powers]>> = {
    rad: [1, { angle: 1 }],
    deg: [DEGREE, { angle: 1 }],
    arcmin: [DEGREE / 60, { angle: 1 }],
    arcsec: [DEGREE / 3600, { angle: 1 }],
    as: [DEGREE / 3600, { angle: 1 }],
    hourangle: [15 * DEGREE, { angle: 1 }],
    sr: [1, { angle: 2 }],
    s: [1, { time: 1 }],
    min: [60, { time: 1 }],
    h: [3600, { time: 1 }],
    d: [86_400, { time: 1 }],
    yr: [YEAR, { time: 1 }],
    a: [YEAR, { time: 1 }],
    Hz: [1, { time: -1 }],
    m: [1, { length: 1 }],
    AU: [149_597_870_700, { length: 1 }],
    au: [149_597_870_700, { length: 1 }],
    pc: [149_597_870_700 / (DEGREE / 3600), { length: 1 }],
    lyr: [299_792_458 * YEAR, { length: 1 }],
    Angstrom: [1e-10, { length: 1 }],
    solRad: [6.957e8, { length: 1 }],
    g: [1e-3, { mass: 1 }],
    solMass: [1.988409870698051e30, { mass: 1 }],
    K: [1, { temperature: 1 }],
    A: [1, { current: 1 }],
    J: [1, ENERGY],
    erg: [1e-7, ENERGY],
    eV: [1.602176634e-19, ENERGY],
    W: [1, POWER],
    solLum: [3.828e26, POWER],
    N: [1, { mass: 1, length: 1, time: -2 }],
    Pa: [1, { mass: 1, length: -1, time: -2 }],
    Jy: [1e-26, FLUX_DENSITY],
    T: [1, { mass: 1, time: -2, current: -1 }],
    G: [1e-4, { mass: 1, time: -2, current: -1 }],
    mag: [1, { magnitude: 1 }],
    dex: [1, { decades: 1 }],
    ct: [1, { count: 1 }],
    count: [1, { count: 1 }],
    '%': [0.01, {}],
    '10': [10, {}],
};

const PREFIXES: Readonly<Record<string, number>> = {
    ...{ a: 1e-18, f: 1e-15, p: 1e-12, n: 1e-9, u: 1e-6, m: 1e-3, c: 1e-2, d: 1e-1 },
    ...{ da: 1e1, h: 1e2, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 },
};

/** What people type and VOUnits do not have. */
const SPELLINGS: Readonly<Record<string, string>> = {
    ...{ degree: 'deg', degrees: 'deg', '"': 'arcsec', "'": 'arcmin', radian: 'rad', radians: 'rad' },
    ...{ arcseconds: 'arcsec', arcsecond: 'arcsec', arcminutes: 'arcmin', arcminute: 'arcmin' },
    ...{ sec: 's', hour: 'h', hours: 'h', hr: 'h', day: 'd', days: 'd', year: 'yr', years: 'yr' },
    ...{ angstrom: 'Angstrom', micron: 'um', Msun: 'solMass', Lsun: 'solLum', Rsun: 'solRad', mags: 'mag' },
};

const SIGNS: readonly (readonly [RegExp, string])[] = [
    [/°/g, 'deg'],
    [/[″”]/g, '"'],
    [/[′’]/g, "'"],
    [/[Åå]/g, 'Angstrom'],
    [/[µμ]/g, 'u'],
    [/⁻¹/g, '**-1'],
    [/⁻²/g, '**-2'],
    [/²/g, '**2'],
    [/³/g, '**3'],
    [/·/g, '.'],
    // km s-1, km s^-1, cm2
    [/([A-Za-z])\^?([+-]?\d+)/g, '$1**$2'],
];

/** Return the value in another unit; undefined if a unit is unknown or they measure different things. */
export function convertValue(value: number, from: string, to: string): number | undefined {
    const [source, target] = [measureOf(from), measureOf(to)];
    if (!source || !target || !areEqualPowers(source.powers, target.powers)) return undefined;
    return source.size === target.size ? value : roundOff((value * source.size) / target.size);
}

/** Whether the unit is known here. */
export const isKnownUnit = (unit: string): boolean => measureOf(unit) !== undefined;

/** Remove the last digits, which the conversion has made. */
const roundOff = (value: number): number => Number(value.toPrecision(13));

function measureOf(unit: string): Measure | undefined {
    const plain = SIGNS.reduce((written, [sign, name]) => written.replace(sign, name), unit.trim());
    const factors = unitFactors(plain);
    if (!factors) return undefined;
    let size = 1;
    const powers: Partial<Record<Quantity, number>> = {};
    for (const { name, power } of factors) {
        const factor = namedMeasure(name);
        if (!factor) return undefined;
        size *= factor.size ** power;
        for (const [quantity, times] of Object.entries(factor.powers) as [Quantity, number][])
            powers[quantity] = (powers[quantity] ?? 0) + times * power;
    }
    return { size, powers };
}

function namedMeasure(written: string): Measure | undefined {
    const name = SPELLINGS[written] ?? written;
    const known = UNITS[name];
    if (known) return { size: known[0], powers: known[1] };
    for (const length of [1, 2]) {
        const [factor, base] = [PREFIXES[name.slice(0, length)], UNITS[name.slice(length)]];
        if (factor && base && /^[A-Za-z]/.test(name.slice(length))) return { size: factor * base[0], powers: base[1] };
    }
    return undefined;
}

function areEqualPowers(one: Powers, other: Powers): boolean {
    const all = [...Object.keys(one), ...Object.keys(other)] as Quantity[];
    return all.every((quantity) => (one[quantity] ?? 0) === (other[quantity] ?? 0));
}
