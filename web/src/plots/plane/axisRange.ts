/** The range of an axis as numbers that users read and type. */

import type { View } from '../../canvas/plotView';

export interface Range {
    readonly min: number;
    readonly max: number;
}

/** Return the range of values that an axis of a view shows. */
export function rangeOf(view: View, along: 'u' | 'v', log: boolean): Range {
    const ends = along === 'u' ? [view.u0, view.u1] : [view.v0, view.v1];
    const [one, other] = ends.map((end) => (log ? 10 ** end : end)) as [number, number];
    return { min: Math.min(one, other), max: Math.max(one, other) };
}

/** Return the view with another range of an axis, reversed as before; undefined if the range is invalid. */
export function withRange(view: View, along: 'u' | 'v', { min, max }: Range, log: boolean): View | undefined {
    const [low, high] = log ? [Math.log10(min), Math.log10(max)] : [min, max];
    if (!Number.isFinite(low) || !Number.isFinite(high) || !(low < high)) return undefined;
    if (along === 'u') return view.u0 > view.u1 ? { ...view, u0: high, u1: low } : { ...view, u0: low, u1: high };
    return view.v0 > view.v1 ? { ...view, v0: high, v1: low } : { ...view, v0: low, v1: high };
}
