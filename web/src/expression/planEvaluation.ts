/** Computes a plan for many rows at once, one operation after the other over typed arrays. */

import type { Plan } from './expressionPlan';

/** A value per row; conditions are 0 and 1. `missing` is 1 for NULL; undefined: no NULL. */
export interface Vector {
    readonly values: Float64Array<ArrayBuffer>;
    readonly missing: Uint8Array<ArrayBuffer> | undefined;
}

/** The columns of some rows. */
export interface RowSource {
    readonly length: number;
    readNumbers(column: number): Vector;
    /** Return a function from row to text, null for NULL. */
    readTexts(column: number): (at: number) => string | null;
}

type Step = (one: number, other: number) => number;

const STEPS: Readonly<Record<string, Step>> = {
    '+': (one, other) => one + other,
    '-': (one, other) => one - other,
    '*': (one, other) => one * other,
    '=': (one, other) => +(one === other),
    '<>': (one, other) => +(one !== other),
    '<': (one, other) => +(one < other),
    '>': (one, other) => +(one > other),
    '<=': (one, other) => +(one <= other),
    '>=': (one, other) => +(one >= other),
    NEGATE: (one) => -one,
    NOT: (one) => 1 - one,
    ABS: Math.abs,
    FLOOR: Math.floor,
    CEILING: Math.ceil,
    EXP: Math.exp,
    LOG: Math.log,
    LOG10: Math.log10,
    SQRT: Math.sqrt,
    SIN: Math.sin,
    COS: Math.cos,
    TAN: Math.tan,
    COT: (one) => 1 / Math.tan(one),
    ASIN: Math.asin,
    ACOS: Math.acos,
    ATAN: Math.atan,
    ATAN2: Math.atan2,
    POWER: Math.pow,
    RADIANS: (one) => (one * Math.PI) / 180,
    DEGREES: (one) => (one * 180) / Math.PI,
};

/** Return the values of a plan. */
export function evaluatePlan(plan: Plan, source: RowSource): Vector {
    switch (plan.op) {
        case 'number':
            return { values: new Float64Array(source.length).fill(plan.value), missing: undefined };
        case 'text':
            return { values: new Float64Array(source.length).fill(NaN), missing: undefined };
        case 'null':
            return allMissing(source.length);
        case 'column':
            return plan.type === 'text' ? markTexts(plan.column, source) : source.readNumbers(plan.column);
        case 'scale': {
            const { values, missing } = evaluatePlan(plan.of, source);
            return { values: values.map((value) => value * plan.factor), missing };
        }
        case 'case':
            return evaluateCase(plan.args, source);
        case 'call':
            return evaluateCall(plan, source);
    }
}

const allMissing = (length: number): Vector => ({
    values: new Float64Array(length).fill(NaN),
    missing: new Uint8Array(length).fill(1),
});

/** Return which texts are NULL. */
function markTexts(column: number, { length, readTexts }: RowSource): Vector {
    const read = readTexts(column);
    const missing = new Uint8Array(length);
    for (let at = 0; at < length; at++) missing[at] = +(read(at) === null);
    return { values: new Float64Array(length).fill(NaN), missing };
}

function evaluateCall(plan: Extract<Plan, { op: 'call' }>, source: RowSource): Vector {
    const { name } = plan;
    if (plan.args.some(({ type }) => type === 'text') && (name === '=' || name === '<>'))
        return compareTexts(plan.args, name === '=', source);
    const args = plan.args.map((arg) => evaluatePlan(arg, source));
    if (name === 'IS NULL') return markMissing(args[0]!, source.length);
    if (name === 'COALESCE') return firstKnown(args, source.length);
    if (name === 'AND' || name === 'OR') return joinConditions(args[0]!, args[1]!, +(name === 'OR'));
    if (name === 'PI') return { values: new Float64Array(source.length).fill(Math.PI), missing: undefined };
    if (name === '/' || name === 'MOD') return divide(args[0]!, args[1]!, name, plan.isInteger);
    if (name === 'ROUND' || name === 'TRUNCATE') return roundValues(args[0]!, args[1], name === 'ROUND');
    return applyStep(STEPS[name]!, args[0]!, args[1]);
}

function applyStep(step: Step, one: Vector, other: Vector = one): Vector {
    const values = new Float64Array(one.values.length);
    for (let at = 0; at < values.length; at++) values[at] = step(one.values[at]!, other.values[at]!);
    return { values, missing: joinMissing(one.missing, other.missing) };
}

function joinMissing(one: Vector['missing'], other: Vector['missing']): Vector['missing'] {
    if (!one || !other || one === other) return one ?? other;
    return one.map((mark, at) => mark | other[at]!);
}

function markMissing({ missing }: Vector, length: number): Vector {
    return { values: missing ? Float64Array.from(missing) : new Float64Array(length), missing: undefined };
}

/** NULL for division by zero, as in ADQL. */
function divide(one: Vector, other: Vector, name: '/' | 'MOD', isInteger: boolean): Vector {
    const step: Step = name === 'MOD' ? (a, b) => a % b : isInteger ? (a, b) => Math.trunc(a / b) : (a, b) => a / b;
    const found = applyStep(step, one, other);
    if (!other.values.includes(0)) return found;
    const missing = found.missing?.slice() ?? new Uint8Array(found.values.length);
    for (let at = 0; at < missing.length; at++) if (other.values[at] === 0) missing[at] = 1;
    return { values: found.values, missing };
}

/** Halves are rounded away from zero. */
function roundValues(of: Vector, decimals: Vector | undefined, isRounded: boolean): Vector {
    const cut: Step = (value, scale) => {
        const scaled = value * scale;
        const whole = Math.trunc(scaled);
        if (!Number.isFinite(whole)) return value;
        return (isRounded && Math.abs(scaled - whole) >= 0.5 ? whole + Math.sign(scaled) : whole) / scale;
    };
    const one = { values: new Float64Array(of.values.length).fill(1), missing: undefined };
    return applyStep(cut, of, decimals ? { ...decimals, values: decimals.values.map((n) => 10 ** n) } : one);
}

function firstKnown(args: readonly Vector[], length: number): Vector {
    const values = new Float64Array(length);
    const missing = new Uint8Array(length);
    for (let at = 0; at < length; at++) {
        const known = args.find((arg) => !arg.missing?.[at]);
        if (known) values[at] = known.values[at]!;
        else missing[at] = 1;
    }
    return { values, missing };
}

/** AND and OR of three values: a 1 decides OR (`decisive`), a 0 AND, whatever the other is. */
function joinConditions(one: Vector, other: Vector, decisive: number): Vector {
    const values = new Float64Array(one.values.length);
    const missing = new Uint8Array(values.length);
    for (let at = 0; at < values.length; at++) {
        const [noOne, noOther] = [one.missing?.[at], other.missing?.[at]];
        const isDecided = (!noOne && one.values[at] === decisive) || (!noOther && other.values[at] === decisive);
        values[at] = isDecided ? decisive : 1 - decisive;
        if (!isDecided && (noOne || noOther)) missing[at] = 1;
    }
    return { values, missing };
}

function evaluateCase(args: readonly Plan[], source: RowSource): Vector {
    const vectors = args.map((arg) => evaluatePlan(arg, source));
    const otherwise = vectors.at(-1)!;
    const values = otherwise.values.slice();
    const missing = otherwise.missing?.slice() ?? new Uint8Array(source.length);
    // from the last to the first: the first condition that holds decides
    for (let k = vectors.length - 3; k >= 0; k -= 2) {
        const [condition, value] = [vectors[k]!, vectors[k + 1]!];
        for (let at = 0; at < values.length; at++) {
            if (condition.values[at] !== 1 || condition.missing?.[at]) continue;
            values[at] = value.values[at]!;
            missing[at] = value.missing?.[at] ?? 0;
        }
    }
    return { values, missing };
}

function compareTexts(args: readonly Plan[], equal: boolean, source: RowSource): Vector {
    const [one, other] = args.map((arg) => textsOf(arg, source));
    const values = new Float64Array(source.length);
    const missing = new Uint8Array(source.length);
    for (let at = 0; at < source.length; at++) {
        const [left, right] = [one!(at), other!(at)];
        if (left === null || right === null) missing[at] = 1;
        else values[at] = +((left === right) === equal);
    }
    return { values, missing };
}

function textsOf(plan: Plan, source: RowSource): (at: number) => string | null {
    if (plan.op === 'text') return () => plan.value;
    return plan.op === 'column' && plan.type === 'text' ? source.readTexts(plan.column) : () => null;
}
