/** The settings of a plot as JSON, with columns by name: they fit other results and survive in links. */

import { LAYERS } from '../layers/layerTable';
import type { KeptLayer } from '../layers/layer';
import { AUTOMATIC, type LayerSettings } from '../points/layerSettings';
import type { moveColumns } from '../../model/columnMoves';
import type { Field } from '../../model/resultModel';
import { defaultSettings } from './defaultSettings';
import { KINDS, type PlotSettings } from '../points/plotSettings';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The settings that are columns; * stands for any key. New ones belong here. */
const COLUMNS = [
    'axes.*.column',
    'axes.*.minus',
    'colour',
    'band',
    'error',
    'corner.axes.*.column',
    'corner.axes.*.minus',
    'space.axes.*.column',
    'space.axes.*.minus',
    'space.distance',
    'space.sizes',
    ...LAYERS.flatMap(({ kept }) => (kept.columns ?? []).map((column) => `layers.${column}`)),
].map((path) => path.split('.'));

/** Return what layers say of their kept settings, by the paths of the settings. */
function ofLayers<Key extends 'words' | 'readers'>(key: Key) {
    const entries = LAYERS.flatMap(({ kept }) => Object.entries(kept[key] ?? {}));
    return Object.fromEntries(entries.map(([name, value]) => [`layers.${name}`, value])) as Record<
        string,
        NonNullable<NonNullable<KeptLayer[Key]>[keyof LayerSettings]>
    >;
}

/** The settings that are one of several words. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
    kind: KINDS,
    frame: ['equatorial', 'galactic'],
    skyStyle: ['points', 'density'],
    'space.by': ['columns', 'positions'],
    ...ofLayers('words'),
};

/** What reads the settings whose parts have no default. */
const READERS: Readonly<Record<string, (kept: unknown) => unknown>> = ofLayers('readers');

const MOST_ITEMS = 16;

const isColumn = (path: readonly string[]) =>
    COLUMNS.some((known) => known.length === path.length && known.every((key, at) => key === '*' || key === path[at]));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);

/** Return a column's name; with its number among columns of the same name if it is not the first of them. */
export function nameColumn(fields: readonly Field[], column: number): Json {
    if (column === AUTOMATIC) return AUTOMATIC;
    const name = fields[column]?.name;
    if (name === undefined) return null;
    const before = fields.slice(0, column).filter((field) => field.name === name).length;
    return before ? [name, before] : name;
}

/** Return the column of a kept name: -1 for none, undefined if the result does not have it. */
export function findColumn(fields: readonly Field[], kept: unknown): number | undefined {
    if (kept === null) return -1;
    if (kept === AUTOMATIC) return AUTOMATIC;
    const [name, before] = Array.isArray(kept) ? kept : [kept, 0];
    const same = [...fields.keys()].filter((at) => fields[at]!.name === name);
    return same[Number(before)];
}

/** Return settings whose columns have moved; removed columns become none. */
export function moveSettings(settings: PlotSettings, moved: ReturnType<typeof moveColumns>): PlotSettings {
    const move = (value: unknown, path: readonly string[]): unknown => {
        if (isColumn(path)) return Number(value) < 0 ? value : (moved({ column: Number(value) })?.column ?? -1);
        if (Array.isArray(value)) return value.map((item, at) => move(item, [...path, String(at)]));
        if (!isObject(value)) return value;
        return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, move(inner, [...path, key])]));
    };
    return move(settings, []) as PlotSettings;
}

/** Return the settings that differ from the default ones of the table. */
export function keepSettings(settings: PlotSettings, fields: readonly Field[]): Json {
    return differences(settings, defaultSettings(fields), fields, []) ?? {};
}

function differences(value: unknown, usual: unknown, fields: readonly Field[], path: string[]): Json | undefined {
    if (JSON.stringify(value) === JSON.stringify(usual)) return undefined;
    if (isColumn(path)) return nameColumn(fields, Number(value));
    if (Array.isArray(value)) return value.map((item, at) => wholeOf(item, fields, [...path, String(at)]));
    if (!isObject(value)) return (value ?? null) as Json;
    // a quantity of two columns is kept as one value
    const whole = isColumn([...path, 'column']);
    const entries = Object.entries(value).flatMap(([key, inner]) => {
        const kept = whole
            ? wholeOf(inner, fields, [...path, key])
            : differences(inner, isObject(usual) ? usual[key] : undefined, fields, [...path, key]);
        return kept === undefined || (whole && kept === null && inner === undefined) ? [] : [[key, kept] as const];
    });
    return Object.fromEntries(entries);
}

function wholeOf(value: unknown, fields: readonly Field[], path: string[]): Json {
    if (isColumn(path)) return nameColumn(fields, Number(value));
    if (Array.isArray(value)) return value.map((item, at) => wholeOf(item, fields, [...path, String(at)]));
    if (!isObject(value)) return (value ?? null) as Json;
    const known = Object.entries(value).filter(([, inner]) => inner !== undefined);
    return Object.fromEntries(known.map(([key, inner]) => [key, wholeOf(inner, fields, [...path, key])]));
}

/** Settings that were read, and what of them the table does not have. */
export interface ReadSettings {
    readonly settings: PlotSettings;
    readonly unknown: readonly string[];
}

/**
 * Read kept settings: the default ones of the table with what was kept of others. What does not fit, whoever wrote it,
 * stays as it is by default.
 */
export function readSettings(kept: unknown, fields: readonly Field[]): ReadSettings {
    const unknown: string[] = [];
    const settings = mergeKept(defaultSettings(fields), kept, { fields, unknown }, []) as PlotSettings;
    return { settings, unknown };
}

interface Reading {
    readonly fields: readonly Field[];
    readonly unknown: string[];
}

/** Return the kept value, or the default where the kept value is missing or has another type. */
function mergeKept(usual: unknown, kept: unknown, reading: Reading, path: readonly string[]): unknown {
    if (kept === undefined) return usual;
    if (isColumn(path)) return readColumn(kept, reading) ?? usual;
    const reader = READERS[path.join('.')];
    if (reader) return reader(kept);
    if (Array.isArray(usual)) return mergeItems(usual, kept, reading, path);
    if (isObject(usual)) return isObject(kept) ? mergeObject(usual, kept, reading, path) : usual;
    const words = WORDS[path.join('.')];
    if (words) return chooseWord(words, kept, reading) ?? usual;
    const alike = usual === undefined ? ['number', 'boolean'].includes(typeof kept) : typeof kept === typeof usual;
    return alike && (typeof kept !== 'number' || Number.isFinite(kept)) ? kept : usual;
}

function readColumn(kept: unknown, { fields, unknown }: Reading): number | undefined {
    const column = findColumn(fields, kept);
    if (column === undefined) unknown.push(String(Array.isArray(kept) ? kept[0] : kept));
    return column;
}

function chooseWord(words: readonly string[], kept: unknown, { unknown }: Reading): unknown {
    if (words.includes(kept as string)) return kept;
    unknown.push(String(kept));
    return undefined;
}

function mergeObject(
    usual: Readonly<Record<string, unknown>>,
    kept: Readonly<Record<string, unknown>>,
    reading: Reading,
    path: readonly string[],
): unknown {
    const before = reading.unknown.length;
    const entries = Object.entries(usual).map(([key, value]) => [
        key,
        Object.hasOwn(kept, key) ? mergeKept(value, kept[key], reading, [...path, key]) : value,
    ]);
    // half of a quantity would be a different quantity
    const broken = isColumn([...path, 'column']) && reading.unknown.length > before;
    return broken ? usual : Object.fromEntries(entries);
}

function mergeItems(usual: readonly unknown[], kept: unknown, reading: Reading, path: readonly string[]): unknown {
    if (!Array.isArray(kept)) return usual;
    const items = kept.slice(0, MOST_ITEMS).flatMap((item, at) => {
        const before = reading.unknown.length;
        const read = mergeKept(usual[at] ?? usual[0], item, reading, [...path, String(at)]);
        return reading.unknown.length > before || read === undefined ? [] : [read];
    });
    return items.length ? items : usual;
}
