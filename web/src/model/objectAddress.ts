/** Addresses of the object page. */

import { pageAddress } from '../browser/router.svelte';

/**
 * Return the address of the page about a position (degrees, ICRS), or about what a user typed: a name, or a position.
 * `radius` in degrees.
 */
export function objectAddress(target: { readonly ra: number; readonly dec: number } | string, radius?: number): string {
    const where =
        typeof target === 'string'
            ? { name: target.trim() }
            : { position: `${shortAngle(target.ra)},${shortAngle(target.dec)}` };
    return pageAddress('object', '', { ...where, ...(radius !== undefined && { radius: String(radius) }) });
}

/** Degrees to 0.04 milliarcseconds. */
const shortAngle = (degrees: number): string => String(Number(degrees.toFixed(8)));
