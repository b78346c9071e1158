/** The layout of a picture (plot, axes, legend) and the first view. */

import type { Extent } from './plotPoints';
import { LEGEND_WIDTH } from '../../canvas/legend';
import { equalizeScales, type Box, type View } from '../../canvas/plotView';

export interface Size {
    readonly width: number;
    readonly height: number;
}

/**
 * Return the box of the plot within the picture, in CSS pixels.
 *
 * @param margin - room for layers above the plot and to its right
 */
export function plotBox(size: Size, sky: boolean, legend: boolean, margin = 0): Box {
    const right = (legend ? LEGEND_WIDTH + 14 : margin ? 6 : 16) + margin;
    const [left, top, bottom] = sky ? [8, 8, 8] : [66, (margin ? 4 : 12) + margin, 46];
    return {
        left,
        top,
        width: Math.max(40, size.width - left - (sky && !legend ? 8 : right)),
        height: Math.max(40, size.height - top - bottom),
    };
}

const PADDING = 0.04;

/** Add some room at both ends of a range; an empty or single-valued range gets a range around it. */
export function padRange(low: number, high: number): [number, number] {
    if (!(low <= high)) return [0, 1];
    const room = high > low ? (high - low) * PADDING : Math.abs(low) * 0.05 || 0.5;
    return [low - room, high + room];
}

/** Return the view of all points, with axes reversed as the settings say. */
export function viewOfExtent({ u0, u1, v0, v1 }: Extent, reversed: { u: boolean; v: boolean }): View {
    const [left, right] = padRange(u0, u1);
    const [low, high] = padRange(v0, v1);
    return {
        u0: reversed.u ? right : left,
        u1: reversed.u ? left : right,
        v0: reversed.v ? high : low,
        v1: reversed.v ? low : high,
    };
}

export const WHOLE_SKY: View = { u0: -2.03, u1: 2.03, v0: -1.03, v1: 1.03 };

/** Return the view of the sky: all of it, or the surroundings of points in a small part; `extent` is NaN without points. */
export function skyView(extent: Extent, box: Box): View {
    const small = extent.u1 - extent.u0 < 1 && extent.v1 - extent.v0 < 0.5;
    if (!small) return equalizeScales(WHOLE_SKY, box);
    const least = 1e-5;
    const [u0, u1] = [extent.u0 - least, extent.u1 + least];
    const [v0, v1] = [extent.v0 - least, extent.v1 + least];
    const [du, dv] = [(u1 - u0) * 0.08, (v1 - v0) * 0.08];
    return equalizeScales({ u0: u0 - du, u1: u1 + du, v0: v0 - dv, v1: v1 + dv }, box);
}
