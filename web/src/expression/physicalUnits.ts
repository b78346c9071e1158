/** Units as factors and dimensions: products, powers, conversion. Names and prefixes follow VOUnits 1.1. */

import { unitFactors, type UnitFactor } from '../text/unitFormat';

export interface Unit {
    /** as it is written */
    readonly factors: readonly UnitFactor[];
    /** one of this unit in base units */
    readonly scale: number;
    /** powers of the base units; empty for a pure number */
    readonly dimensions: ReadonlyMap<string, number>;
}

export const PURE: Unit = { factors: [], scale: 1, dimensions: new Map() };

type Definition = readonly [scale: number, dimensions: string];

const ARCSEC = Math.PI / 648_000;
const AU = 149_597_870_700;
const EV = 1.602176634e-19;
const YEAR = 365.25 * 86_400;

/** Units that take prefixes. */
const PREFIXED: Readonly<Record<string, Definition>> = {
    ...{ m: [1, 'm'], g: [1e-3, 'kg'], s: [1, 's'], A: [1, 'A'], K: [1, 'K'], mol: [1, 'mol'], cd: [1, 'cd'] },
    ...{ rad: [1, 'rad'], sr: [1, 'rad2'], Hz: [1, 's-1'], N: [1, 'kg m s-2'], Pa: [1, 'kg m-1 s-2'] },
    ...{ J: [1, 'kg m2 s-2'], W: [1, 'kg m2 s-3'], C: [1, 'A s'], V: [1, 'kg m2 s-3 A-1'] },
    ...{ Ohm: [1, 'kg m2 s-3 A-2'], S: [1, 'kg-1 m-2 s3 A2'], F: [1, 'kg-1 m-2 s4 A2'], Wb: [1, 'kg m2 s-2 A-1'] },
    ...{ T: [1, 'kg s-2 A-1'], H: [1, 'kg m2 s-2 A-2'], lm: [1, 'cd rad2'], lx: [1, 'cd rad2 m-2'] },
    ...{ eV: [EV, 'kg m2 s-2'], erg: [1e-7, 'kg m2 s-2'], Jy: [1e-26, 'kg s-2'], G: [1e-4, 'kg s-2 A-1'] },
    ...{ pc: [AU / ARCSEC, 'm'], lyr: [299_792_458 * YEAR, 'm'], barn: [1e-28, 'm2'] },
    ...{ a: [YEAR, 's'], yr: [YEAR, 's'], arcsec: [ARCSEC, 'rad'], mag: [1, 'mag'], bit: [1, 'bit'] },
    ...{ R: [1e10 / (4 * Math.PI), 'photon m-2 s-1 rad-2'], byte: [8, 'bit'], B: [8, 'bit'] },
};

const UNPREFIXED: Readonly<Record<string, Definition>> = {
    ...{ min: [60, 's'], h: [3600, 's'], d: [86_400, 's'], Angstrom: [1e-10, 'm'], angstrom: [1e-10, 'm'] },
    ...{
        deg: [Math.PI / 180, 'rad'],
        arcmin: [60 * ARCSEC, 'rad'],
        mas: [ARCSEC / 1e3, 'rad'],
        hourangle: [Math.PI / 12, 'rad'],
    },
    ...{ uas: [ARCSEC / 1e6, 'rad'], AU: [AU, 'm'], au: [AU, 'm'], u: [1.6605390666e-27, 'kg'] },
    ...{ Ry: [13.605693122994 * EV, 'kg m2 s-2'], solMass: [1.988409870698051e30, 'kg'], solRad: [6.957e8, 'm'] },
    ...{ solLum: [3.828e26, 'kg m2 s-3'], '%': [0.01, ''] },
    ...{ ct: [1, 'ct'], count: [1, 'ct'], ph: [1, 'photon'], photon: [1, 'photon'], adu: [1, 'adu'] },
    ...{ pix: [1, 'pix'], pixel: [1, 'pix'], voxel: [1, 'voxel'], bin: [1, 'bin'], beam: [1, 'beam'] },
    ...{ chan: [1, 'chan'], electron: [1, 'electron'], dex: [1, 'dex'] },
};

const PREFIXES: Readonly<Record<string, number>> = {
    ...{ da: 1e1, h: 1e2, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18, Z: 1e21, Y: 1e24 },
    ...{ d: 1e-1, c: 1e-2, m: 1e-3, u: 1e-6, n: 1e-9, p: 1e-12, f: 1e-15, a: 1e-18, z: 1e-21, y: 1e-24 },
};

function findDefinition(name: string): Definition | undefined {
    if (name === '10') return [10, ''];
    const whole = own(UNPREFIXED, name) ?? own(PREFIXED, name);
    if (whole) return whole;
    for (const length of [2, 1]) {
        const [prefix, unit] = [own(PREFIXES, name.slice(0, length)), own(PREFIXED, name.slice(length))];
        if (prefix && unit) return [prefix * unit[0], unit[1]];
    }
    return undefined;
}

const own = <Value>(of: Readonly<Record<string, Value>>, key: string): Value | undefined =>
    Object.hasOwn(of, key) ? of[key] : undefined;

/** Parse a VOUnit; undefined if a part of it is unknown. */
export function parseUnit(written: string): Unit | undefined {
    const factors = unitFactors(written);
    const definitions = factors?.map(({ name }) => findDefinition(name));
    if (!factors || !definitions?.every((found) => found !== undefined)) return undefined;
    return makeUnit(factors, definitions);
}

/** Parse the unit of a column. An unknown part is a separate dimension, convertible only to itself. */
export function readUnit(written: string): Unit {
    const factors = unitFactors(written) ?? [{ name: written, power: 1 }];
    return makeUnit(
        factors,
        factors.map(({ name }) => findDefinition(name) ?? [1, `'${name.replaceAll(' ', '_')}'`]),
    );
}

function makeUnit(factors: readonly UnitFactor[], definitions: readonly Definition[]): Unit {
    return factors.reduce(
        (unit, factor, at) => multiplyUnits(unit, basicUnit(factor.name, definitions[at]!), factor.power),
        PURE,
    );
}

function basicUnit(name: string, [scale, dimensions]: Definition): Unit {
    const powers = dimensions.split(' ').flatMap((word): [string, number][] => {
        const [, base, power] = /^(.*?)(-?\d+)?$/.exec(word)!;
        return base ? [[base, Number(power ?? 1)]] : [];
    });
    return { factors: [{ name, power: 1 }], scale, dimensions: new Map(powers) };
}

/** Return `one` times `other` to a power. */
export function multiplyUnits(one: Unit, other: Unit, power: number): Unit {
    const factors = new Map(one.factors.map((factor) => [factor.name, factor.power]));
    for (const factor of other.factors) addPower(factors, factor.name, factor.power * power);
    const dimensions = new Map(one.dimensions);
    for (const [base, exponent] of other.dimensions) addPower(dimensions, base, exponent * power);
    return {
        factors: [...factors].map(([name, exponent]) => ({ name, power: exponent })),
        scale: one.scale * other.scale ** power,
        dimensions,
    };
}

function addPower(powers: Map<string, number>, name: string, power: number): void {
    const sum = (powers.get(name) ?? 0) + power;
    // thirds do not add up to whole numbers exactly
    if (Math.abs(sum) < 1e-9) powers.delete(name);
    else powers.set(name, sum);
}

export const raiseUnit = (unit: Unit, power: number): Unit => multiplyUnits(PURE, unit, power);

/** Whether values of the unit are pure numbers, such as mas/arcsec. */
export const isPure = (unit: Unit): boolean => unit.dimensions.size === 0;

export function haveSameDimensions(one: Unit, other: Unit): boolean {
    return isPure(multiplyUnits(one, other, -1));
}

/** Return the factor by which values in one unit are multiplied to be in another of the same dimensions. */
export function conversionFactor(from: Unit, to: Unit): number {
    const factor = from.scale / to.scale;
    // whole factors such as 3600 come out exactly
    const rounded = Number(factor.toPrecision(14));
    return Number.isInteger(rounded) || Number.isInteger(1 / rounded) ? rounded : factor;
}

/** Write a unit as a VOUnit: "km.s**-1", "m**(0.5)"; '' for pure numbers. */
export function writeUnit(unit: Unit): string {
    return unit.factors.map(({ name, power }) => (power === 1 ? name : `${name}**${writePower(power)}`)).join('.');
}

function writePower(power: number): string {
    const written = String(Number(power.toPrecision(12)));
    return Number.isInteger(Number(written)) ? written : `(${written})`;
}
