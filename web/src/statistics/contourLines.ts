/** Lines of equal value of a grid. */

import { contours } from 'd3-contour';

interface Grid {
    readonly values: Float64Array;
    readonly columns: number;
    readonly rows: number;
}

/**
 * Return the lines at a level, as x, y, x, y ... in steps of the grid: the middle of the first cell is at 0.5, 0.5.
 * Lines are closed; those that leave the grid follow its border.
 */
export function contourLines({ values, columns, rows }: Grid, level: number): number[][] {
    const found = contours()
        .size([columns, rows])
        .contour(values as unknown as number[], level);
    return found.coordinates.flat().map((ring) => ring.flat());
}
