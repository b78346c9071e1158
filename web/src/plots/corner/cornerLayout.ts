/** The panels of a corner plot: histograms on the diagonal, pairs of quantities below it. */

import type { Box, View } from '../../canvas/plotView';
import type { Size } from '../points/plotLayout';
import type { RowValues } from '../table/rowValues';

export interface CornerPanel {
    /** indexes of the horizontal and vertical quantity; equal on the diagonal */
    readonly column: number;
    readonly row: number;
    readonly box: Box;
    /** of a histogram, v is a share of the highest bar */
    readonly view: View;
}

const LEFT = 66;
const BOTTOM = 50;
const EDGE = 10;
const GAP = 6;

/** Return the panels from the top left to the bottom right. */
export function layOutCorner({ axes }: Pick<RowValues, 'axes'>, size: Size): CornerPanel[] {
    const count = axes.length;
    const width = Math.max(20, (size.width - LEFT - EDGE - GAP * (count - 1)) / count);
    const height = Math.max(20, (size.height - BOTTOM - EDGE - GAP * (count - 1)) / count);
    const panels: CornerPanel[] = [];
    for (let row = 0; row < count; row++) {
        for (let column = 0; column <= row; column++) {
            const box = { left: LEFT + column * (width + GAP), top: EDGE + row * (height + GAP), width, height };
            const [u0, u1] = axes[column]!.range;
            const [v0, v1] = column === row ? [0, 1.08] : axes[row]!.range;
            panels.push({ column, row, box, view: { u0, u1, v0, v1 } });
        }
    }
    return panels;
}

/** Return the panel at a position of the picture. */
export function panelAt(panels: readonly CornerPanel[], x: number, y: number): CornerPanel | undefined {
    return panels.find(
        ({ box: { left, top, width, height } }) => x >= left && x <= left + width && y >= top && y <= top + height,
    );
}
