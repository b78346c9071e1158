/** Finds the point nearest to the pointer with a grid over the screen. */

import type { Points } from './plotPoints';
import type { Box, View } from '../../canvas/plotView';
import { xOnScreen, yOnScreen } from '../../canvas/plotView';

const CELL = 16;

/** An index of the points of a view by screen position. */
export class PointIndex {
    readonly #starts: Uint32Array;
    readonly #members: Uint32Array;
    readonly #columns: number;
    readonly #rows: number;

    constructor(
        private readonly points: Points,
        private readonly view: View,
        private readonly box: Box,
    ) {
        this.#columns = Math.max(1, Math.ceil(box.width / CELL));
        this.#rows = Math.max(1, Math.ceil(box.height / CELL));
        const cells = this.#cellsOfPoints();
        const starts = new Uint32Array(this.#columns * this.#rows + 1);
        for (const cell of cells) if (cell >= 0) starts[cell + 1]!++;
        for (let cell = 1; cell < starts.length; cell++) starts[cell]! += starts[cell - 1]!;
        const members = new Uint32Array(starts.at(-1)!);
        const next = starts.slice();
        for (let k = 0; k < cells.length; k++) if (cells[k]! >= 0) members[next[cells[k]!]!++] = k;
        this.#starts = starts;
        this.#members = members;
    }

    /** Return the index of the nearest point within `reach` CSS pixels; -1 if there is none. */
    findPoint(x: number, y: number, reach: number): number {
        const { points, view, box } = this;
        let [best, least] = [-1, reach * reach];
        const column = (value: number) => Math.floor((value - box.left) / CELL);
        const row = (value: number) => Math.floor((value - box.top) / CELL);
        for (let j = Math.max(0, row(y - reach)); j <= Math.min(this.#rows - 1, row(y + reach)); j++) {
            for (let i = Math.max(0, column(x - reach)); i <= Math.min(this.#columns - 1, column(x + reach)); i++) {
                const cell = j * this.#columns + i;
                for (let k = this.#starts[cell]!; k < this.#starts[cell + 1]!; k++) {
                    const point = this.#members[k]!;
                    const [dx, dy] = [
                        xOnScreen(view, box, points.u[point]!) - x,
                        yOnScreen(view, box, points.v[point]!) - y,
                    ];
                    const square = dx * dx + dy * dy;
                    // of equally near points take the later one, which is drawn on top
                    if (square <= least) [best, least] = [point, square];
                }
            }
        }
        return best;
    }

    #cellsOfPoints(): Int32Array {
        const { points, view, box } = this;
        const cells = new Int32Array(points.count);
        const [ku, kv] = [box.width / (view.u1 - view.u0) / CELL, box.height / (view.v1 - view.v0) / CELL];
        for (let k = 0; k < points.count; k++) {
            const i = Math.floor((points.u[k]! - view.u0) * ku);
            const j = Math.floor((view.v1 - points.v[k]!) * kv);
            const within = i >= 0 && j >= 0 && i < this.#columns && j < this.#rows;
            cells[k] = within ? j * this.#columns + i : -1;
        }
        return cells;
    }
}
