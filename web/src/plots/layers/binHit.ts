/** The mean or median under the pointer. */

import { xOnScreen, yOnScreen } from '../../canvas/plotView';
import type { BinnedValue } from '../../statistics/binnedValues';
import type { LayerSummary } from './layer';
import type { Scene } from '../points/plotScene';
import { isSamePlane } from '../points/plotSettings';

export interface BinHit {
    readonly bin: BinnedValue;
    /** position of its mark, in CSS pixels */
    readonly x: number;
    readonly y: number;
}

/** Distance from the pointer to a mark, in CSS pixels. */
const REACH = 6;

/** Return the bin whose mark is under the pointer. */
export function findBin(
    { view, box, data }: Pick<Scene, 'view' | 'box' | 'data'>,
    summary: LayerSummary | undefined,
    x: number,
    y: number,
): BinHit | undefined {
    if (!summary || !isSamePlane(summary.settings, data.settings)) return undefined;
    for (const bin of summary.binned) {
        const mark = { x: xOnScreen(view, box, (bin.from + bin.to) / 2), y: yOnScreen(view, box, bin.middle) };
        if (Math.hypot(mark.x - x, mark.y - y) <= REACH) return { bin, ...mark };
    }
    return undefined;
}
