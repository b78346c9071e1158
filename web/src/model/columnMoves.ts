/** Where columns are after others were added or removed. */

import type { Field } from './resultModel';

/**
 * Return the old index of each column, by its name; -1 for a new one. Where as many columns are there as before, a
 * renamed one keeps its index.
 */
export function oldIndexes(before: readonly Field[], after: readonly Field[]): number[] {
    return after.map(({ name }, at) => {
        if (before[at]?.name === name || before.length === after.length) return at;
        return before.findIndex((field) => field.name === name);
    });
}

/** Return a function that gives an object with a `column` its new index; undefined if the column is gone. */
export function moveColumns(
    before: readonly Field[],
    after: readonly Field[],
): <Placed extends { readonly column: number }>(placed: Placed) => Placed | undefined {
    const indexes = oldIndexes(before, after);
    return (placed) => {
        const column = placed.column < 0 ? -1 : indexes.indexOf(placed.column);
        return column < 0 ? undefined : { ...placed, column };
    };
}
