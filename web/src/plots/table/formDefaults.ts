/** The first corner plot and the first plot in space, chosen by UCDs. */

import type { Field } from '../../model/resultModel';
import {
    isMagnitude,
    isPlottable,
    MAX_CORNER,
    NO_AXIS,
    type Axis,
    type CornerSettings,
    type Quantity,
    type SpaceSettings,
} from '../points/plotSettings';

const axis = ({ column, minus }: Quantity): Axis => ({ ...NO_AXIS, column, minus });
const plain = (column: number): Quantity => ({ column, minus: -1 });
const hasUcd = (field: Field, start: RegExp) => isPlottable(field) && start.test(field.ucd ?? '');

/** UCDs of a corner plot's quantities after colour and magnitude. */
const PHYSICAL = [/^phot\.color/, /^pos\.parallax/, /^pos\.pm/, /^spect\.dopplerVeloc/, /^(src\.redshift|phys\.)/];

/** Choose a colour and magnitude, parallax, proper motions and velocity; otherwise the first measurements. */
export function cornerSettings(fields: readonly Field[], x: Quantity, y: number): CornerSettings {
    const isDiagram = x.minus >= 0 || isMagnitude(fields[y]) || hasUcd(fields[x.column] ?? NOTHING, /^phot\.color/);
    const chosen: Quantity[] = isDiagram ? [x, plain(y)] : [];
    for (const ucd of PHYSICAL) {
        for (const [at, field] of fields.entries()) if (hasUcd(field, ucd)) chosen.push(plain(at));
    }
    const measures = [...fields.keys()].filter((at) => isMeasure(fields[at]!)).map(plain);
    const distinct = [...chosen, ...(chosen.length < 2 ? measures : [])].filter(
        (one, at, all) =>
            one.column >= 0 && all.findIndex((two) => two.column === one.column && two.minus === one.minus) === at,
    );
    return { axes: distinct.slice(0, chosen.length < 2 ? 3 : MAX_CORNER).map(axis), trimmed: true };
}

const NOTHING: Field = { name: '', datatype: '', kind: 'text' };

const isMeasure = (field: Field) => field.kind === 'number' && !/^(meta|stat)\./.test(field.ucd ?? '');

/** Choose positions, with a parallax or distance if there is one; otherwise the first three measurements. */
export function spaceSettings(fields: readonly Field[], x: Quantity, y: number, hasPosition: boolean): SpaceSettings {
    const others = [...fields.keys()].filter((at) => isMeasure(fields[at]!) && ![x.column, x.minus, y].includes(at));
    return {
        by: hasPosition ? 'positions' : 'columns',
        axes: [axis(x), axis(plain(y)), axis(plain(others[0] ?? -1))],
        distance: fields.findIndex((field) => hasUcd(field, /^(pos\.distance|pos\.parallax)/)),
        sizes: -1,
        trimmed: true,
    };
}

/** Whether a column has parallaxes, and not distances. */
export const isParallax = (field: Field | undefined): boolean =>
    /^pos\.parallax/.test(field?.ucd ?? '') || ['mas', 'arcsec', 'uas'].includes(field?.unit ?? '');
