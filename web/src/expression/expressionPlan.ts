/** What an expression computes: a tree of operations on numbers, with units converted explicitly. */

import type { Unit } from './physicalUnits';

export type PlanType = 'number' | 'boolean' | 'text' | 'null';

type Operation =
    | { readonly op: 'number'; readonly value: number }
    | { readonly op: 'text'; readonly value: string }
    | { readonly op: 'null' }
    | { readonly op: 'column'; readonly column: number }
    /** `of` times a factor: from one unit to another */
    | { readonly op: 'scale'; readonly factor: number; readonly of: Plan }
    /** an operator, in ADQL's sign, a function, in capital letters, or `IS NULL` */
    | { readonly op: 'call'; readonly name: string; readonly args: readonly Plan[] }
    /** conditions and values in turn, then the value otherwise */
    | { readonly op: 'case'; readonly args: readonly Plan[] };

export type Plan = Operation & {
    readonly type: PlanType;
    readonly isInteger: boolean;
    readonly unit: Unit;
};
