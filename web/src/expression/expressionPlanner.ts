/** Checks an expression against the columns of a result, and carries their units through it. */

import { equalIgnoringCase } from '../adql/adqlTokens';
import { findSimilar } from '../adql/similarNames';
import type { Field } from '../model/resultModel';
import { columnTexts } from '../text/columnTexts';
import { formatUnit } from '../text/unitFormat';
import { ExpressionError, type BinarySign, type Node } from './expressionParser';
import { FUNCTIONS } from './expressionFunctions';
import type { Plan } from './expressionPlan';
import {
    conversionFactor,
    haveSameDimensions,
    isPure,
    multiplyUnits,
    parseUnit,
    PURE,
    raiseUnit,
    readUnit,
    writeUnit,
    type Unit,
} from './physicalUnits';

const RADIAN = parseUnit('rad')!;
const DEGREE = parseUnit('deg')!;
const DAY = parseUnit('d')!;
const { errors, notes } = columnTexts;

/** Return a unit for messages. */
export const unitWords = (unit: Unit): string => formatUnit(writeUnit(unit)) || errors.noUnit;

/** Multiply by the factor from the plan's unit to another of the same dimensions. */
export function scalePlan(of: Plan, unit: Unit): Plan {
    const factor = conversionFactor(of.unit, unit);
    return factor === 1 ? { ...of, unit } : { op: 'scale', factor, of, type: 'number', isInteger: false, unit };
}

export class ExpressionPlanner {
    readonly #fields: readonly Field[];
    /** what the user should know: conversions, assumptions */
    readonly notes = new Set<string>();

    constructor(fields: readonly Field[]) {
        this.#fields = fields;
    }

    /** Return what a node computes. Raises ExpressionError. */
    planNode(node: Node): Plan {
        switch (node.type) {
            case 'number':
                return makeNumber(node.value, node.isInteger);
            case 'text':
                return { op: 'text', value: node.value, type: 'text', isInteger: false, unit: PURE };
            case 'truth':
                return makeCall(node.value ? '=' : '<>', 'boolean', PURE, [makeNumber(1, true), makeNumber(1, true)]);
            case 'null':
                return { op: 'null', type: 'null', isInteger: true, unit: PURE };
            case 'column':
                return this.#planColumn(node);
            case 'negative':
                return this.#planNegative(node);
            case 'not':
                return makeCall('NOT', 'boolean', PURE, [this.#planCondition(node.of, 'NOT')]);
            case 'isNull': {
                const found = makeCall('IS NULL', 'boolean', PURE, [this.planNode(node.of)]);
                return node.isNegated ? makeCall('NOT', 'boolean', PURE, [found]) : found;
            }
            case 'binary':
                return this.#planBinary(node);
            case 'call':
                return this.#planCall(node);
            case 'case':
                return this.#planCase(node);
        }
    }

    #planColumn(node: Extract<Node, { type: 'column' }>): Plan {
        const exact = this.#fields.findIndex(({ name }) => name === node.name);
        const column =
            exact >= 0 || node.isDelimited
                ? exact
                : this.#fields.findIndex(({ name }) => equalIgnoringCase(name, node.name));
        const field = this.#fields[column];
        if (!field) throw this.#missingColumn(node);
        if (field.kind === 'array') throw new ExpressionError(errors.arrayColumn(field.name), node.from, node.to);
        if (field.kind === 'time') this.notes.add(notes.instants);
        const type = field.kind === 'time' ? 'number' : field.kind;
        const unit = field.kind === 'time' ? DAY : type === 'number' ? readUnit(field.unit ?? '') : PURE;
        const isInteger = type === 'number' && /^(unsignedByte|short|int|long)$/.test(field.datatype);
        return { op: 'column', column, type, isInteger, unit };
    }

    #missingColumn({ name, from, to }: { name: string; from: number; to: number }): ExpressionError {
        const meant = findSimilar(
            name,
            this.#fields.map((field) => field.name),
        );
        return new ExpressionError(errors.noColumn(name) + (meant ? errors.meant(meant) : ''), from, to, meant);
    }

    #planNegative(node: Extract<Node, { type: 'negative' | 'not' }>): Plan {
        const of = this.#planNumber(node.of, '-');
        return makeCall('NEGATE', 'number', of.unit, [of], of.isInteger);
    }

    #planNumber(node: Node, what: string): Plan {
        const plan = this.planNode(node);
        if (plan.type !== 'number' && plan.type !== 'null')
            throw new ExpressionError(errors.needsNumber(what), node.from, node.to);
        return plan;
    }

    #planCondition(node: Node, what: string): Plan {
        const plan = this.planNode(node);
        if (plan.type !== 'boolean') throw new ExpressionError(errors.needsCondition(what), node.from, node.to);
        return plan;
    }

    #planBinary(node: Extract<Node, { type: 'binary' }>): Plan {
        const { sign } = node;
        if (sign === 'AND' || sign === 'OR') {
            const args = [this.#planCondition(node.left, sign), this.#planCondition(node.right, sign)];
            return makeCall(sign, 'boolean', PURE, args);
        }
        if (sign === '*' || sign === '/') return this.#planProduct(node, sign);
        if (sign === '+' || sign === '-') {
            const sides = [this.#planNumber(node.left, sign), this.#planNumber(node.right, sign)];
            const args = this.#alignUnits(sides, sign, node);
            return makeCall(sign, 'number', args[0]!.unit, args, areIntegers(args));
        }
        return this.#planComparison(node, sign);
    }

    #planProduct(node: Extract<Node, { type: 'binary' }>, sign: '*' | '/'): Plan {
        const args = [this.#planNumber(node.left, sign), this.#planNumber(node.right, sign)];
        const unit = multiplyUnits(args[0]!.unit, args[1]!.unit, sign === '*' ? 1 : -1);
        const isInteger = areIntegers(args);
        if (isInteger && sign === '/') this.notes.add(notes.integers);
        const found = makeCall(sign, 'number', unit, args, isInteger);
        // mas/arcsec is a pure number
        return isPure(unit) ? scalePlan(found, PURE) : found;
    }

    #planComparison(node: Extract<Node, { type: 'binary' }>, sign: BinarySign): Plan {
        const sides = [this.planNode(node.left), this.planNode(node.right)];
        const types = new Set(sides.map(({ type }) => type).filter((type) => type !== 'null'));
        if (types.size > 1) throw new ExpressionError(errors.needsSame, node.from, node.to);
        if (types.has('text') && sign !== '=' && sign !== '<>')
            throw new ExpressionError(errors.textOrder, node.from, node.to);
        return makeCall(sign, 'boolean', PURE, this.#alignUnits(sides, sign, node, true));
    }

    /** Convert all to the unit of the first that has one. Numbers without a unit take it. */
    #alignUnits(
        plans: readonly Plan[],
        what: string,
        { from, to }: { from: number; to: number },
        quietly = false,
    ): Plan[] {
        const first = plans.find(({ unit }) => !isPure(unit));
        if (!first) return plans.map((plan) => scalePlan(plan, PURE));
        return plans.map((plan) => {
            if (isPure(plan.unit)) {
                if (!quietly && plan.type !== 'null') this.notes.add(notes.taken(unitWords(first.unit)));
                return { ...scalePlan(plan, PURE), unit: first.unit };
            }
            if (!haveSameDimensions(plan.unit, first.unit))
                throw new ExpressionError(errors.units(what, unitWords(first.unit), unitWords(plan.unit)), from, to);
            return this.#convert(plan, first.unit);
        });
    }

    #convert(plan: Plan, unit: Unit): Plan {
        const found = scalePlan(plan, unit);
        if (found.op === 'scale' && found.of === plan)
            this.notes.add(notes.converted(unitWords(plan.unit), unitWords(unit)));
        return found;
    }

    #planCase(node: Extract<Node, { type: 'case' }>): Plan {
        const conditions = node.whens.map(({ condition }) => this.#planCondition(condition, 'WHEN'));
        const nodes = [...node.whens.map(({ value }) => value), ...(node.otherwise ? [node.otherwise] : [])];
        const values = nodes.map((value) => this.planNode(value));
        if (!node.otherwise) values.push({ op: 'null', type: 'null', isInteger: true, unit: PURE });
        const types = new Set(values.map(({ type }) => type).filter((type) => type !== 'null'));
        if (types.size > 1) throw new ExpressionError(errors.needsSame, node.from, node.to);
        const aligned = this.#alignUnits(values, 'CASE', node);
        const args = [...conditions.flatMap((condition, at) => [condition, aligned[at]!]), aligned.at(-1)!];
        const type = [...types][0] ?? 'null';
        const known = aligned.filter((value) => value.type !== 'null');
        return { op: 'case', args, type, isInteger: areIntegers(known), unit: aligned[0]!.unit };
    }

    #planCall(node: Extract<Node, { type: 'call' }>): Plan {
        const { name, from, to } = node;
        const form = FUNCTIONS.get(name);
        if (!form) throw this.#missingFunction(name, from);
        if (node.args.length < form.least || node.args.length > form.most)
            throw new ExpressionError(
                errors.argumentCount(name, errors.arguments(form.least, form.most), node.args.length),
                from,
                to,
            );
        if (form.rule === 'given') return this.#planGivenUnit(node);
        const args = node.args.map((arg) => this.#planNumber(arg, name));
        return this.#applyRule(node, args);
    }

    #missingFunction(name: string, from: number): ExpressionError {
        const names = [...FUNCTIONS.keys()];
        const meant = findSimilar(name, names);
        const way = meant ? errors.meant(meant) : errors.functions(names.join(', '));
        return new ExpressionError(errors.noFunction(name) + way, from, from + name.length, meant);
    }

    #applyRule(node: Extract<Node, { type: 'call' }>, args: readonly Plan[]): Plan {
        const { name } = node;
        const first = args[0];
        const rule = FUNCTIONS.get(name)!.rule;
        if (!first) return makeCall(name, 'number', PURE, []);
        switch (rule) {
            case 'same':
                return makeCall(name, 'number', first.unit, args, name === 'ABS' && first.isInteger);
            case 'pure':
                return makeCall(name, 'number', PURE, [this.#stripUnit(first, name)]);
            case 'arc':
                if (!isPure(first.unit))
                    throw new ExpressionError(errors.needsPure(name, unitWords(first.unit)), node.from, node.to);
                return makeCall(name, 'number', RADIAN, [scalePlan(first, PURE)]);
            case 'angle':
                return makeCall(name, 'number', PURE, [this.#planAngle(node, first, RADIAN)]);
            case 'radians':
                return makeCall(name, 'number', RADIAN, [this.#planAngle(node, first, DEGREE)]);
            case 'degrees':
                return makeCall(name, 'number', DEGREE, [this.#planAngle(node, first, RADIAN)]);
            case 'root':
                return makeCall(name, 'number', raiseUnit(first.unit, 0.5), args);
            case 'power':
                return this.#planPower(node, first, args[1]!);
            default:
                return this.#planAligned(node, args);
        }
    }

    /** ATAN2, MOD, COALESCE: of values in one unit. */
    #planAligned(node: Extract<Node, { type: 'call' }>, args: readonly Plan[]): Plan {
        const aligned = this.#alignUnits(args, node.name, node);
        if (node.name === 'ATAN2') return makeCall(node.name, 'number', RADIAN, aligned);
        return makeCall(node.name, 'number', aligned[0]!.unit, aligned, areIntegers(aligned));
    }

    #stripUnit(plan: Plan, name: string): Plan {
        if (isPure(plan.unit)) return scalePlan(plan, PURE);
        this.notes.add(notes.stripped(name, unitWords(plan.unit)));
        return plan;
    }

    #planAngle(node: Node & { name: string }, plan: Plan, unit: Unit): Plan {
        if (isPure(plan.unit)) return scalePlan(plan, PURE);
        if (!haveSameDimensions(plan.unit, unit))
            throw new ExpressionError(errors.needsAngle(node.name, unitWords(plan.unit)), node.from, node.to);
        return this.#convert(plan, unit);
    }

    #planPower(node: Extract<Node, { type: 'call' }>, base: Plan, exponent: Plan): Plan {
        if (isPure(base.unit))
            return makeCall('POWER', 'number', PURE, [scalePlan(base, PURE), this.#stripUnit(exponent, 'POWER')]);
        const power = constantOf(exponent);
        if (power === undefined) {
            const { from, to } = node.args[1]!;
            throw new ExpressionError(errors.needsPower, from, to);
        }
        return makeCall('POWER', 'number', raiseUnit(base.unit, power), [base, exponent]);
    }

    #planGivenUnit(node: Extract<Node, { type: 'call' }>): Plan {
        const [value, given] = [this.#planNumber(node.args[0]!, node.name), node.args[1]!];
        if (given.type !== 'text') throw new ExpressionError(errors.needsUnitText, given.from, given.to);
        const unit = parseUnit(given.value);
        if (!unit) throw new ExpressionError(errors.unknownUnit(given.value), given.from, given.to);
        if (haveSameDimensions(value.unit, unit)) return scalePlan(value, unit);
        const words = errors.notConvertible(unitWords(value.unit), unitWords(unit));
        throw new ExpressionError(words, node.from, node.to);
    }
}

const makeNumber = (value: number, isInteger: boolean): Plan => ({
    ...{ op: 'number', value, type: 'number', isInteger, unit: PURE },
});

const makeCall = (name: string, type: Plan['type'], unit: Unit, args: readonly Plan[], isInteger = false): Plan => ({
    op: 'call',
    name,
    args,
    type,
    isInteger,
    unit,
});

const areIntegers = (plans: readonly Plan[]): boolean => plans.every(({ isInteger }) => isInteger);

/** Return the value of a number as such, perhaps negative or a quotient: the power of a quantity. */
function constantOf(plan: Plan): number | undefined {
    if (plan.op === 'number') return plan.value;
    if (plan.op !== 'call') return undefined;
    const [one, other] = plan.args.map(constantOf);
    if (plan.name === 'NEGATE' && one !== undefined) return -one;
    if (plan.name === '/' && one !== undefined && other) return plan.isInteger ? Math.trunc(one / other) : one / other;
    return undefined;
}
