/** Cells of the service's JSON, in which non-finite numbers are texts. */

import type { Cell } from '../model/resultModel';

const NOT_FINITE: Record<string, number> = { NaN, Infinity, '-Infinity': -Infinity };

/** Return a cell as text; NULL is ''. */
export const cellText = (cell: Cell): string => (cell === null ? '' : String(cell));

/** Return a cell as a number; NaN if it is not one. */
export function cellToNumber(cell: Cell | undefined): number {
    if (cell === null || cell === undefined || cell === '' || typeof cell === 'boolean') return NaN;
    return typeof cell === 'string' ? (NOT_FINITE[cell] ?? Number(cell)) : Number(cell);
}
