/** Where columns are after others were added or removed. */

import type { Field } from './resultModel';

/**
 * Return a function that gives an object with a `column` its new place, by the column's name; undefined if the column
 * is gone. Where as many columns are there as before, a renamed one keeps its place.
 */
export function moveColumns(
    before: readonly Field[],
    after: readonly Field[],
): <Placed extends { readonly column: number }>(placed: Placed) => Placed | undefined {
    const places = before.map(({ name }, at) => {
        if (after[at]?.name === name || before.length === after.length) return at;
        return after.findIndex((field) => field.name === name);
    });
    return (placed) => {
        const column = places[placed.column] ?? -1;
        return column < 0 ? undefined : { ...placed, column };
    };
}
