/** The range of an axis as numbers that are read and typed. */

import type { View } from '../canvas/plotView';

export interface Range {
    readonly min: number;
    readonly max: number;
}

/** Which values an axis of a view shows. */
export function rangeOf(view: View, along: 'u' | 'v', log: boolean): Range {
    const ends = along === 'u' ? [view.u0, view.u1] : [view.v0, view.v1];
    const [one, other] = ends.map((end) => (log ? 10 ** end : end)) as [number, number];
    return { min: Math.min(one, other), max: Math.max(one, other) };
}

/** The view with another range of an axis, turned as it was; undefined if that is no range. */
export function withRange(view: View, along: 'u' | 'v', { min, max }: Range, log: boolean): View | undefined {
    const [low, high] = log ? [Math.log10(min), Math.log10(max)] : [min, max];
    if (!Number.isFinite(low) || !Number.isFinite(high) || !(low < high)) return undefined;
    if (along === 'u') return view.u0 > view.u1 ? { ...view, u0: high, u1: low } : { ...view, u0: low, u1: high };
    return view.v0 > view.v1 ? { ...view, v0: high, v1: low } : { ...view, v0: low, v1: high };
}
