/** Where columns are after others were added or removed. */

import type { Field } from './resultModel';

/**
 * Return the old place of each column, by its name; -1 for a new one. Where as many columns are there as before, a
 * renamed one keeps its place.
 */
export function oldPlaces(before: readonly Field[], after: readonly Field[]): number[] {
    return after.map(({ name }, at) => {
        if (before[at]?.name === name || before.length === after.length) return at;
        return before.findIndex((field) => field.name === name);
    });
}

/** Return a function that gives an object with a `column` its new place; undefined if the column is gone. */
export function moveColumns(
    before: readonly Field[],
    after: readonly Field[],
): <Placed extends { readonly column: number }>(placed: Placed) => Placed | undefined {
    const places = oldPlaces(before, after);
    return (placed) => {
        const column = placed.column < 0 ? -1 : places.indexOf(placed.column);
        return column < 0 ? undefined : { ...placed, column };
    };
}
