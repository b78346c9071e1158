/** Values typed with a unit, in the unit of their column: 5 arcsec in deg, 10 km/s in m.s**-1. */

import { haveSameDimensions, parseUnit, type Unit } from '../expression/physicalUnits';

/** What people type and VOUnits do not have. */
const SPELLINGS: ReadonlyMap<string, string> = new Map(
    Object.entries({
        ...{ degree: 'deg', degrees: 'deg', '"': 'arcsec', "'": 'arcmin', radian: 'rad', radians: 'rad', as: 'arcsec' },
        ...{ arcseconds: 'arcsec', arcsecond: 'arcsec', arcminutes: 'arcmin', arcminute: 'arcmin' },
        ...{ sec: 's', hour: 'h', hours: 'h', hr: 'h', day: 'd', days: 'd', year: 'yr', years: 'yr' },
        ...{ micron: 'um', Msun: 'solMass', Lsun: 'solLum', Rsun: 'solRad', mags: 'mag' },
    }),
);

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
    const [source, target] = [readTypedUnit(from), readTypedUnit(to)];
    if (!source || !target || !haveSameDimensions(source, target)) return undefined;
    return source.scale === target.scale ? value : roundOff((value * source.scale) / target.scale);
}

/** Whether the unit is known here. */
export const isKnownUnit = (unit: string): boolean => readTypedUnit(unit) !== undefined;

/** Remove the last digits, which the conversion has made. */
const roundOff = (value: number): number => Number(value.toPrecision(13));

function readTypedUnit(unit: string): Unit | undefined {
    const signed = SIGNS.reduce((written, [sign, name]) => written.replace(sign, name), unit.trim());
    return parseUnit(signed.replace(/[A-Za-z]+|["']/g, (word) => SPELLINGS.get(word) ?? word));
}
