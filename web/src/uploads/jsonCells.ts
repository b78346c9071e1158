/** Cells of the first rows, as the service's JSON has them: what JSON lacks are texts. */

import type { Cell } from '../model/resultModel';

const NOT_FINITE: Record<string, number> = { NaN, Infinity, '-Infinity': -Infinity };

/** A cell as it is shown; NULL is the empty text. */
export const cellText = (cell: Cell): string => (cell === null ? '' : String(cell));

/** A cell as a number, NaN if it is none. */
export function cellToNumber(cell: Cell | undefined): number {
    if (cell === null || cell === undefined || cell === '' || typeof cell === 'boolean') return NaN;
    return typeof cell === 'string' ? (NOT_FINITE[cell] ?? Number(cell)) : Number(cell);
}
