/** The functions of expressions, as in ADQL: their arguments, and what they do to units. */

/**
 * same: the unit of the first argument stays; pure: a number without a unit; angle: of an angle; arc: to an angle;
 * others have their own rules.
 */
export type UnitRule =
    | 'same'
    | 'pure'
    | 'angle'
    | 'arc'
    | 'arc2'
    | 'root'
    | 'power'
    | 'remainder'
    | 'radians'
    | 'degrees'
    | 'constant'
    | 'common'
    | 'given';

interface FunctionForm {
    readonly least: number;
    readonly most: number;
    readonly rule: UnitRule;
}

const form = (least: number, most: number, rule: UnitRule): FunctionForm => ({ least, most, rule });

export const FUNCTIONS: ReadonlyMap<string, FunctionForm> = new Map([
    ...['ABS', 'FLOOR', 'CEILING'].map((name) => [name, form(1, 1, 'same')] as const),
    ...['ROUND', 'TRUNCATE'].map((name) => [name, form(1, 2, 'same')] as const),
    ...['EXP', 'LOG', 'LOG10'].map((name) => [name, form(1, 1, 'pure')] as const),
    ...['SIN', 'COS', 'TAN', 'COT'].map((name) => [name, form(1, 1, 'angle')] as const),
    ...['ASIN', 'ACOS', 'ATAN'].map((name) => [name, form(1, 1, 'arc')] as const),
    ['ATAN2', form(2, 2, 'arc2')],
    ['SQRT', form(1, 1, 'root')],
    ['POWER', form(2, 2, 'power')],
    ['MOD', form(2, 2, 'remainder')],
    ['RADIANS', form(1, 1, 'radians')],
    ['DEGREES', form(1, 1, 'degrees')],
    ['PI', form(0, 0, 'constant')],
    ['COALESCE', form(1, Infinity, 'common')],
    ['IN_UNIT', form(2, 2, 'given')],
]);
