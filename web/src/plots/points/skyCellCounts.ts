/** Points of the sky counted in HEALPix cells (ICRS) of any order. */

import { frameConversion, type Frame } from '../../sky/skyFrames';
import { cellAt, cellCount, MAX_ORDER } from '../../sky/healpixCells';
import type { View } from '../../canvas/plotView';

/** Finer maps take more memory than they show. */
const MAX_MAP_ORDER = 9;

export class SkyCellCounts {
    #finest: Int32Array | undefined;
    #counted: { order: number; counts: Uint32Array } | undefined;

    constructor(
        private readonly rows: Uint32Array,
        private readonly longitudes: Float64Array,
        private readonly latitudes: Float64Array,
        private readonly from: Frame,
        private readonly units: readonly [number, number],
    ) {}

    /** Return the number of rows in each cell of an order up to 9. */
    countCells(order: number): Uint32Array {
        if (this.#counted?.order === order) return this.#counted.counts;
        const counts = new Uint32Array(cellCount(order));
        const shift = 2 * (MAX_ORDER - order);
        for (const cell of this.#finestCells()) if (cell >= 0) counts[cell >> shift]!++;
        this.#counted = { order, counts: counts };
        return counts;
    }

    #finestCells(): Int32Array {
        if (this.#finest) return this.#finest;
        const toIcrs = frameConversion(this.from, 'equatorial');
        this.#finest = Int32Array.from(this.rows, (row) =>
            cellAt(MAX_ORDER, ...toIcrs(this.longitudes[row]! * this.units[0], this.latitudes[row]! * this.units[1])),
        );
        return this.#finest;
    }
}

/** Return the order whose cells are about `pixels` CSS pixels wide in a view of `width` pixels. */
export function orderFor(view: View, width: number, pixels: number): number {
    const degrees = (Math.abs(view.u1 - view.u0) / width) * 90 * pixels;
    return Math.max(0, Math.min(MAX_MAP_ORDER, Math.round(Math.log2(58.6 / degrees))));
}
