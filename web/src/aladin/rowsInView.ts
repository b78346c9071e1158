/** The rows of tables around a position, for other views of the sky. */

import { loadObjectTables, type ObjectTable } from '../object/objectTables';
import { queryRows, toNumber, type Value } from '../tap/jsonRows';

export interface PlacedRow {
    readonly ra: number;
    readonly dec: number;
    readonly row: Readonly<Record<string, Value>>;
}

/** Rows of a table that are shown at a time. */
export const MAX_ROWS = 5000;

/** Return the named tables that have positions. Raises an Error with the reason. */
export async function findTables(names: readonly string[]): Promise<readonly ObjectTable[]> {
    return (await loadObjectTables()).filter(({ name, position }) => position && names.includes(name));
}

/** Load the rows of a table in a circle (degrees), and whether there are more. Raises TapError. */
export async function loadRowsAround(
    { name, position }: ObjectTable,
    [ra, dec]: readonly [number, number],
    radius: number,
    signal: AbortSignal,
): Promise<{ rows: PlacedRow[]; more: boolean }> {
    const { ra: longitude, dec: latitude } = position!;
    const query =
        `SELECT ${longitude} AS skyhouse_ra, ${latitude} AS skyhouse_dec, t.* FROM ${name} AS t ` +
        `WHERE 1 = CONTAINS(POINT(${longitude}, ${latitude}), CIRCLE(${ra}, ${dec}, ${radius}))`;
    const { names, data, overflow } = await queryRows(query, { maxrec: MAX_ROWS, signal });
    const rows = data.map((values) => ({
        ra: toNumber(values[0]),
        dec: toNumber(values[1]),
        row: Object.fromEntries(values.slice(2).map((value, at) => [names[at + 2]!, value])),
    }));
    return { rows, more: overflow };
}
