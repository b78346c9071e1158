import { describe, expect, test } from 'vitest';
import type { ComputedColumn, Field } from '../model/resultModel';
import { planColumn, planColumns, UnitError } from './computedColumn';
import { ExpressionError } from './expressionParser';
import { evaluatePlan } from './planEvaluation';
import { writePlan } from './planAdql';

const field = (name: string, unit = '', datatype = 'double', kind: Field['kind'] = 'number'): Field => ({
    ...{ name, unit, datatype, kind },
});
const FIELDS = [
    field('ra', 'deg'),
    field('dec', 'deg'),
    field('sep', 'arcsec'),
    field('parallax', 'mas', 'float'),
    field('pm', 'mas.yr**-1'),
    field('vmag', 'mag'),
    field('n', '', 'int'),
    field('flux', 'Jy'),
    field('band', '', 'char', 'text'),
    field('seen', '', 'char', 'time'),
    field('my column', "'electron'.s**-1"),
    field('list', '', 'double', 'array'),
];
/** Values of each column; null is NULL. */
const VALUES: readonly (readonly (number | string | null)[])[] = [
    [10, 20, null, 40],
    [-30, 0, 30, NaN],
    [3600, 1800, 0, null],
    [10, 0, -5, 2],
    [1, 2, 3, 4],
    [5, 10, 15, null],
    [7, -7, 0, 3],
    [1, 10, 100, 1000],
    ['g', 'r', null, "it's"],
    [58000, 58000.5, 58001, null],
    [1, 2, 3, 4],
];

const plan = (expression: string, more: Partial<ComputedColumn> = {}) =>
    planColumn({ name: 'new', expression, ...more }, FIELDS);

function valuesOf(expression: string, more: Partial<ComputedColumn> = {}): (number | null)[] {
    const { values, missing } = evaluatePlan(plan(expression, more).plan, {
        length: 4,
        readNumbers: (column) => ({
            values: Float64Array.from(VALUES[column]!, (value) => (value === null ? NaN : Number(value))),
            missing: Uint8Array.from(VALUES[column]!, (value) => +(value === null)),
        }),
        readTexts: (column) => (at) => VALUES[column]![at] as string | null,
    });
    return [...values].map((value, at) => (missing?.[at] ? null : value));
}

const adqlOf = (expression: string, more: Partial<ComputedColumn> = {}) =>
    writePlan(plan(expression, more).plan, FIELDS);

function errorOf(expression: string, more: Partial<ComputedColumn> = {}): ExpressionError | UnitError {
    try {
        plan(expression, more);
    } catch (error) {
        return error as ExpressionError;
    }
    throw new Error(`${expression} has no error`);
}

describe('units', () => {
    test.each([
        ['ra + sep', 'deg'],
        ['sep + ra', 'arcsec'],
        ['parallax * sep', 'mas.arcsec'],
        ['parallax / sep', ''],
        ['1000 / parallax', 'mas**-1'],
        ['pm / parallax', 'yr**-1'],
        ['SQRT(flux * flux)', 'Jy'],
        ['SQRT(parallax)', 'mas**(0.5)'],
        ['POWER(sep, -2)', 'arcsec**-2'],
        ['POWER(sep, 1.0/2)', 'arcsec**(0.5)'],
        ['vmag + 5 * LOG10(parallax) - 10', 'mag'],
        ['LOG10(flux)', ''],
        ['ASIN(0.5)', 'rad'],
        ['DEGREES(ATAN2(ra, sep))', 'deg'],
        ['"my column" * 2', 'electron.s**-1'],
        ['CASE WHEN n > 0 THEN sep ELSE ra END', 'arcsec'],
        ['COALESCE(NULL, dec)', 'deg'],
        ["IN_UNIT(ra, 'arcmin')", 'arcmin'],
        ['seen - 58000', 'd'],
        ['n > 2', ''],
    ])('%s is in "%s"', (expression, unit) => {
        expect((plan(expression).field.unit ?? '').replaceAll("'", '')).toBe(unit);
    });

    test('what is assumed and converted is told', () => {
        expect(plan('ra + sep').notes).toEqual(['arcsec is converted to deg.']);
        expect(plan('LOG10(flux)').notes.join()).toContain('LOG10 takes the number in Jy');
        expect(plan('vmag + 5').notes).toEqual(['A number without a unit is assumed to be in mag.']);
        expect(plan('vmag > 5').notes).toEqual([]);
        expect(plan('n / 2').notes.join()).toContain('lose their fraction');
    });

    test('a result unit converts, or is declared', () => {
        expect(valuesOf('ra', { unit: 'arcmin' })).toEqual([600, 1200, null, 2400]);
        expect(errorOf('1000 / parallax', { unit: 'pc' })).toBeInstanceOf(UnitError);
        expect(errorOf('1000 / parallax', { unit: 'pc' }).message).toContain('tick the box');
        expect(valuesOf('1000.0 / parallax', { unit: 'pc', isDeclared: true })).toEqual([100, null, -200, 500]);
        expect(plan('1000 / parallax', { unit: 'pc', isDeclared: true }).field.unit).toBe('pc');
        expect(errorOf('ra', { unit: 'parsecs' }).message).toContain('parsecs is not a unit');
    });
});

describe('values', () => {
    test.each([
        ['ra + sep', [11, 20.5, null, null]],
        ['parallax / sep', [10 / 3.6e6, 0, null, null]],
        ['SIN(dec)', [-0.5, 0, 0.5, NaN]],
        ['SIN(RADIANS(dec))', [-0.5, 0, 0.5, NaN]],
        ['1 / n', [0, 0, null, 0]],
        ['1.0 / n', [1 / 7, -1 / 7, null, 1 / 3]],
        ['n / 2', [3, -3, 0, 1]],
        ['MOD(n, 4)', [3, -3, 0, 3]],
        ['-n + 2 * 3', [-1, 13, 6, 3]],
        ['ROUND(n / 2.0)', [4, -4, 0, 2]],
        ['ROUND(ra / 3, 1)', [3.3, 6.7, null, 13.3]],
        ['TRUNCATE(-ra / 3, 1)', [-3.3, -6.6, null, -13.3]],
        ['COALESCE(ra, dec, 0)', [10, 20, 30, 40]],
        ["CASE band WHEN 'g' THEN 1 WHEN 'r' THEN 2 END", [1, 2, null, null]],
        ["CASE WHEN band = 'it''s' THEN n ELSE 0 END", [0, 0, 0, 3]],
        ['ra IS NULL', [0, 0, 1, 0]],
        ['band IS NOT NULL', [1, 1, 0, 1]],
        ['ra > 15 AND n > 0', [0, 0, 0, 1]],
        ['ra > 15 AND n = 0', [0, 0, null, 0]],
        ['ra > 15 OR n = 0', [0, 1, 1, 1]],
        ['NOT ra > 15', [1, 0, null, 0]],
        ['ra BETWEEN 10 AND 20', [1, 1, null, 0]],
        ['n NOT IN (7, 3)', [0, 1, 1, 0]],
        ['sep >= dec', [1, 1, 0, null]],
        ['POWER(n, 2) + PI() * 0', [49, 49, 0, 9]],
        ['TRUE', [1, 1, 1, 1]],
    ] as [string, (number | null)[]][])('%s', (expression, expected) => {
        const found = valuesOf(expression);
        found.forEach((value, at) => {
            const wanted = expected[at]!;
            if (typeof wanted === 'number' && !Number.isNaN(wanted)) expect(value).toBeCloseTo(wanted, 12);
            else expect(value).toBe(wanted);
        });
    });

    test('a column may use those before it', () => {
        const [, second] = planColumns(
            [
                { name: 'colour', expression: 'vmag - 1' },
                { name: 'twice', expression: '2 * colour' },
            ],
            FIELDS,
        );
        expect(second!.field).toMatchObject({ name: 'twice', unit: 'mag', expression: '2 * colour' });
    });
});

test.each([
    ['ra + sep', 'ra + (sep / 3600.0)'],
    ['2 * (ra + 1)', '2 * (ra + 1)'],
    ['SIN(dec)', 'SIN(dec * 0.017453292519943295)'],
    ['"my column" / n', '"my column" / n'],
    ['seen - 58000', 'ivo_to_mjd(seen) - 58000'],
    ["CASE WHEN band = 'it''s' THEN 1 END", "CASE WHEN band = 'it''s' THEN 1 ELSE NULL END"],
    ['NOT n IS NULL', 'NOT (n IS NULL)'],
    ['-n', '-n'],
])('%s as ADQL', (expression, adql) => {
    expect(adqlOf(expression)).toBe(adql);
});

test.each([
    ['vmag + dec', 'one side is in mag, the other in deg', [0, 10], undefined],
    ['1 + paralax', 'Did you mean parallax?', [4, 11], 'parallax'],
    ['LOG1O(n)', 'Did you mean LOG10?', [0, 5], 'LOG10'],
    ['n ** 2', 'POWER(x, y)', [2, 4], undefined],
    ['n +', 'ends too early', [3, 3], undefined],
    ['(n + 1', 'Expected ) at the end', [6, 6], undefined],
    ['n + size', 'word of ADQL', [4, 8], '"SIZE"'],
    ['SIN(vmag)', 'takes an angle, not mag', [0, 9], undefined],
    ['POWER(ra, n)', 'must be a plain number', [10, 11], undefined],
    ['SQRT(n, 2)', 'SQRT takes 1 argument, not 2', [0, 10], undefined],
    ['band', 'gives text', [0, 4], undefined],
    ["band < 'g'", 'only be compared with =', [0, 10], undefined],
    ['list * 2', 'holds arrays', [0, 4], undefined],
    ['n AND 1', 'needs a condition', [0, 1], undefined],
    ["IN_UNIT(ra, 'Jy')", 'deg cannot be converted to Jy', [0, 17], undefined],
    ['', 'Type an expression', [0, 0], undefined],
    ['n $ 2', '$ is not allowed here', [2, 3], undefined],
])('%s is refused: %s', (expression, message, position, fix) => {
    const error = errorOf(expression) as ExpressionError;
    expect(error.message).toContain(message);
    expect([error.from, error.to]).toEqual(position);
    expect(error.fix).toBe(fix);
});
