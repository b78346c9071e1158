/** Writes a plan as ADQL that computes the same: conversions of units stand there as factors. */

import { quoteLiteral, quoteName } from '../adql/adqlNames';
import type { Field } from '../model/resultModel';
import type { Plan } from './expressionPlan';

const SIGNS = new Set(['+', '-', '*', '/', '=', '<>', '<', '>', '<=', '>=', 'AND', 'OR']);

/** Return the ADQL of a plan. */
export function writePlan(plan: Plan, fields: readonly Field[]): string {
    return stripParentheses(writePart(plan, fields));
}

function writePart(plan: Plan, fields: readonly Field[]): string {
    switch (plan.op) {
        case 'number':
            return writeNumber(plan.value, plan.isInteger);
        case 'text':
            return quoteLiteral(plan.value);
        case 'null':
            return 'NULL';
        case 'column':
            return writeColumn(fields[plan.column]!);
        case 'scale':
            return writeScale(plan.factor, writePart(plan.of, fields));
        case 'case':
            return writeCase(plan.args.map((arg) => writePart(arg, fields)));
        case 'call':
            return writeCall(
                plan.name,
                plan.args.map((arg) => writePart(arg, fields)),
            );
    }
}

/** A number with a point is not an integer, by which ADQL would divide without fraction. */
function writeNumber(value: number, isInteger: boolean): string {
    const written = String(value);
    return isInteger || /[.e]/i.test(written) ? written : `${written}.0`;
}

function writeColumn({ name, kind }: Field): string {
    return kind === 'time' ? `ivo_to_mjd(${quoteName(name)})` : quoteName(name);
}

function writeScale(factor: number, of: string): string {
    const inverse = Number((1 / factor).toPrecision(15));
    return factor < 1 && Number.isInteger(inverse)
        ? `(${of} / ${writeNumber(inverse, false)})`
        : `(${of} * ${writeNumber(factor, false)})`;
}

function writeCase(args: readonly string[]): string {
    const whens = args.slice(0, -1).map((arg, at) => (at % 2 ? `THEN ${arg}` : `WHEN ${stripParentheses(arg)}`));
    return `CASE ${whens.join(' ')} ELSE ${args.at(-1)!} END`;
}

function writeCall(name: string, args: readonly string[]): string {
    if (SIGNS.has(name)) return `(${args.join(` ${name} `)})`;
    if (name === 'NEGATE') return `(-${args[0]!})`;
    if (name === 'NOT') return `(NOT ${args[0]!})`;
    if (name === 'IS NULL') return `(${args[0]!} IS NULL)`;
    return `${name}(${args.map(stripParentheses).join(', ')})`;
}

/** Remove parentheses around the whole. */
function stripParentheses(written: string): string {
    if (!written.startsWith('(')) return written;
    let depth = 0;
    let quote = '';
    for (let at = 0; at < written.length; at++) {
        const sign = written[at]!;
        if (quote) quote = sign === quote ? '' : quote;
        else if (sign === "'" || sign === '"') quote = sign;
        else if (sign === '(') depth++;
        else if (sign === ')' && --depth === 0) return at === written.length - 1 ? written.slice(1, -1) : written;
    }
    return written;
}
