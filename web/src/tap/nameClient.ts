/** Objects by name, from the tables that declare names. */

import { askService, formValues } from './tapRequest';

export interface NamedObject {
    /** the name that was found, as its table writes it */
    readonly name: string;
    /** the row's first name */
    readonly main_name: string;
    /** '' if another service knows it */
    readonly table: string;
    /** degrees, ICRS */
    readonly ra: number;
    readonly dec: number;
    readonly magnitude: number | null;
}

export interface FoundNames {
    /** the brightest first */
    readonly objects: readonly NamedObject[];
    /** similar names, if the name is unknown */
    readonly suggestions?: readonly string[];
}

/** Find the objects of a name. Raises TapError. */
export const findObjects = (name: string): Promise<FoundNames> => askNames({ name });

/** Find some objects whose names begin so. Raises TapError. */
export const completeName = async (prefix: string, signal: AbortSignal): Promise<readonly NamedObject[]> =>
    (await askNames({ prefix }, signal)).objects;

/** List the brightest objects with proper names, such as Vega, within a circle (degrees, ICRS). Raises TapError. */
export const listBrightNames = async (
    [ra, dec]: readonly [number, number],
    radius: number,
    signal: AbortSignal,
): Promise<readonly NamedObject[]> =>
    (await askNames({ position: `${ra},${dec}`, radius: String(radius) }, signal)).objects;

async function askNames(values: Record<string, string>, signal?: AbortSignal): Promise<FoundNames> {
    const query = new URLSearchParams([...formValues(values)]);
    const answer = await askService(`names?${query}`, { signal: signal ?? null });
    return (await answer.json()) as FoundNames;
}
