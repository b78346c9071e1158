/** The rows of a corner plot or a plot in space as CSV. */

import { joinLines } from '../points/csvLines';
import type { RowValues } from './rowValues';

const ROWS_AT_ONCE = 20_000;

/** Return the rows of a corner plot or a plot in space as CSV. */
export function valuesCsv({ rows, columns }: Pick<RowValues, 'rows' | 'columns'>): Blob {
    const pieces = joinLines([['row', ...columns.map(({ name }) => name)]]);
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
        const block = Array.from(rows.subarray(from, from + ROWS_AT_ONCE), (row) => [
            row + 1,
            ...columns.map(({ value }) => value(row)),
        ]);
        pieces.push(joinLines(block).join(''));
    }
    return new Blob(pieces, { type: 'text/csv' });
}
