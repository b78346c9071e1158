/** A column that the page computes from the others of a result. */

import type { ComputedColumn, Field } from '../model/resultModel';
import { columnTexts } from '../text/columnTexts';
import { ExpressionError, parseExpression } from './expressionParser';
import { ExpressionPlanner, scalePlan, unitWords } from './expressionPlanner';
import type { Plan } from './expressionPlan';
import { haveSameDimensions, isPure, parseUnit, PURE, writeUnit } from './physicalUnits';

export interface ColumnPlan {
    readonly field: Field;
    readonly plan: Plan;
    /** what the user should know: conversions, assumptions */
    readonly notes: readonly string[];
}

/** An error of the result unit, not of the expression. */
export class UnitError extends Error {}

const { errors } = columnTexts;

/** Check a column against those before it. Raises ExpressionError, UnitError. */
export function planColumn(column: ComputedColumn, fields: readonly Field[]): ColumnPlan {
    const planner = new ExpressionPlanner(fields);
    const found = planner.planNode(parseExpression(column.expression));
    if (found.type === 'text') throw new ExpressionError(errors.textResult, 0, column.expression.length);
    const plan = found.type === 'boolean' ? found : giveUnit(found, column);
    if (found.type === 'boolean' && column.unit) throw new UnitError(errors.condition);
    const unit = writeUnit(plan.unit);
    const isBoolean = found.type === 'boolean';
    const field: Field = {
        name: column.name,
        datatype: isBoolean ? 'boolean' : 'double',
        kind: isBoolean ? 'boolean' : 'number',
        ...(unit && { unit }),
        description: column.expression,
        expression: column.expression,
    };
    return { field, plan, notes: [...planner.notes] };
}

function giveUnit(plan: Plan, { unit: written, isDeclared }: ComputedColumn): Plan {
    if (!written) return isPure(plan.unit) ? scalePlan(plan, PURE) : plan;
    const unit = parseUnit(written);
    if (!unit) throw new UnitError(errors.unknownUnit(written));
    if (isDeclared) return { ...(isPure(plan.unit) ? scalePlan(plan, PURE) : plan), unit };
    if (haveSameDimensions(plan.unit, unit)) return scalePlan(plan, unit);
    throw new UnitError(errors.notConvertible(unitWords(plan.unit), unitWords(unit)) + errors.declare);
}

/** Check the columns one after the other; each may use those before it. Raises as `planColumn`. */
export function planColumns(columns: readonly ComputedColumn[], fields: readonly Field[]): ColumnPlan[] {
    const plans: ColumnPlan[] = [];
    for (const column of columns) plans.push(planColumn(column, [...fields, ...plans.map(({ field }) => field)]));
    return plans;
}
