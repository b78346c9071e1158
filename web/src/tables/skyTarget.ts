/** What users type for a position on the sky: a position, or the name of an object. */

import { findObjects, type NamedObject } from '../tap/nameClient';
import { text } from '../text';
import { parsePosition } from './skyPosition';

/** Largest difference between the positions of one object in several catalogues, in degrees. */
const SAME_POSITION = 60 / 3600;

export type Target =
    /** `name`: as its table writes it; '' for a typed position. `objects`: the rows of that name */
    | {
          readonly kind: 'position';
          readonly ra: number;
          readonly dec: number;
          readonly name: string;
          readonly objects: readonly NamedObject[];
      }
    /** several objects have the name */
    | { readonly kind: 'several'; readonly objects: readonly NamedObject[] }
    | { readonly kind: 'unknown'; readonly message: string; readonly suggestions?: readonly string[] };

/** Find the position that was typed. Raises TapError if the service does not answer. */
export async function findTarget(typed: string): Promise<Target> {
    const position = parsePosition(typed);
    if (position) return { kind: 'position', ra: position[0], dec: position[1], name: '', objects: [] };
    if (!/\p{L}/u.test(typed)) return { kind: 'unknown', message: text.tables.target.unreadable };
    const { objects: found, suggestions = [] } = await findObjects(typed.trim());
    const [first] = found;
    if (!first) return { kind: 'unknown', message: text.tables.target.unknown(typed.trim(), suggestions), suggestions };
    const positions = found.filter((other, at) => found.slice(0, at).every((known) => !areNear(known, other)));
    if (positions.length > 1) return { kind: 'several', objects: positions };
    return { kind: 'position', ra: first.ra, dec: first.dec, name: first.name, objects: found };
}

function areNear(one: NamedObject, other: NamedObject): boolean {
    const radian = Math.PI / 180;
    const half = (angle: number) => Math.sin((angle * radian) / 2) ** 2;
    const across = Math.cos(one.dec * radian) * Math.cos(other.dec * radian);
    const square = half(other.dec - one.dec) + across * half(other.ra - one.ra);
    return (2 * Math.asin(Math.min(1, Math.sqrt(square)))) / radian <= SAME_POSITION;
}

/** Return the message about a name of several objects. */
export function describeSeveral(name: string, objects: readonly NamedObject[]): string {
    const positions = objects.map(({ main_name, ra, dec }) => `${main_name} (${ra.toFixed(4)} ${dec.toFixed(4)})`);
    return `${text.tables.target.several(name)} ${positions.join(', ')}`;
}
