/** What the Python script of a plot reads: plain values, which `plot_script.py` gets as JSON. */

import { kindColours, KIND_COUNT, makeRamp } from '../../canvas/colourRamps';
import { parseMjd } from '../../model/instants';
import type { Field, Filter, Table } from '../../model/resultModel';
import { plotTexts } from '../../text/plotTexts';
import { quantityLabel, type Axis } from '../points/plotSettings';
import type { Shades } from '../points/pointShades';

/** What scripts need to know of a table. */
export type ScriptTable = Pick<Table, 'fields' | 'filters'>;

/** A column by its name, or by its index if several have the name. */
export type ScriptColumn = { readonly kind: 'text' | 'number' | 'time' } & (
    { readonly name: string } | { readonly index: number }
);

export interface ScriptQuantity {
    readonly column: ScriptColumn;
    readonly minus: ScriptColumn | null;
    readonly log: boolean;
}

/** The rows whose value is one of a list; `missing`: or that have none. */
interface ScriptMembers {
    readonly values: readonly (string | number)[];
    readonly missing: boolean;
}

type ScriptFilter = { readonly column: ScriptColumn } & (
    | { readonly contains: string }
    | { readonly min: number | null; readonly max: number | null }
    | (ScriptMembers & { readonly excluded: boolean })
);

type ScriptColour =
    | {
          readonly type: 'values';
          readonly column: ScriptColumn;
          readonly range: readonly [number, number];
          readonly label: string;
      }
    | {
          readonly type: 'kinds';
          readonly column: ScriptColumn;
          readonly kinds: readonly (ScriptMembers & { readonly label: string; readonly colour: string })[];
          /** the colour of all other kinds; null if there are none */
          readonly others: string | null;
      };

/** Half error bars of an axis; of a difference, its two columns are added in quadrature. */
export interface ScriptErrors {
    readonly axis: 'x' | 'y';
    readonly columns: readonly ScriptColumn[];
    readonly upper: ScriptColumn | null;
}

/** The drawn layers. */
export interface ScriptLayers {
    readonly errors?: readonly ScriptErrors[];
    readonly fit?: { readonly weighted: boolean };
    readonly bins?: { readonly statistic: 'mean' | 'median'; readonly start: number; readonly width: number };
}

/** Return the reference to a column. */
export function columnOf(fields: readonly Field[], column: number): ScriptColumn {
    const { name, kind: own } = fields[column]!;
    const kind = own === 'time' ? 'time' : own === 'text' || own === 'array' ? 'text' : 'number';
    const alike = fields.filter((field) => field.name === name).length;
    return alike === 1 ? { kind, name } : { kind, index: column };
}

export const quantityOf = (
    fields: readonly Field[],
    { column, minus, log }: Omit<Axis, 'reversed'>,
): ScriptQuantity => ({
    column: columnOf(fields, column),
    minus: minus >= 0 ? columnOf(fields, minus) : null,
    log,
});

/** Return the settings that scripts of all kinds of plots have. Raises an Error if a filter is a selection of rows. */
export function commonSettings(
    kind: string,
    { fields, filters }: ScriptTable,
    shades: Shades | undefined,
    colour: number,
) {
    return {
        ...{ kind, name: kind === 'space' ? '3d' : kind },
        filters: filters.map((filter) => filterOf(fields, filter)),
        colour: shades && fields[colour] ? colourOf(fields, shades, colour) : null,
        accent: ACCENT,
        // the colour map for light grounds
        ramp: Array.from({ length: 9 }, (_, k) => hex(makeRamp(false)[Math.round((255 * k) / 8)]!)),
    };
}

function filterOf(fields: readonly Field[], filter: Filter): ScriptFilter {
    if ('rows' in filter) throw new Error(plotTexts.noScriptOfRows(filter.title));
    const column = columnOf(fields, filter.column);
    if ('contains' in filter) return { column, contains: filter.contains.toLowerCase() };
    if ('oneOf' in filter) return { column, excluded: false, ...membersOf(fields[filter.column]!, filter.oneOf) };
    if ('noneOf' in filter) return { column, excluded: true, ...membersOf(fields[filter.column]!, filter.noneOf) };
    return { column, min: filter.min ?? null, max: filter.max ?? null };
}

/** Return a list of values as the script compares them; null is no value. */
function membersOf({ kind }: Field, values: readonly (string | null)[]): ScriptMembers {
    const known = values.filter((value) => value !== null);
    const read: (value: string) => string | number =
        kind === 'number' ? Number : kind === 'boolean' ? (value) => Number(value === 'true') : kind === 'time' ? parseMjd : String; // prettier-ignore
    return { values: known.map(read), missing: known.length < values.length };
}

function colourOf(fields: readonly Field[], shades: Shades, colour: number): ScriptColour {
    const column = columnOf(fields, colour);
    if (shades.type === 'values') {
        const label = escapeLabel(quantityLabel(fields, { column: colour, minus: -1 }));
        return { type: 'values', column, range: shades.range, label };
    }
    const colours = Array.from(kindColours(false), hex);
    const kinds = shades.names.map((name, k) => ({
        ...membersOf(fields[colour]!, [name || null]),
        label: escapeLabel(name || plotTexts.noValue),
        colour: colours[k]!,
    }));
    return { type: 'kinds', column, kinds, others: shades.others ? colours[KIND_COUNT]! : null };
}

/** Return a label whose dollar signs are not mathematics. */
export const escapeLabel = (label: string): string => label.replaceAll('$', '\\$');

/** Return a colour as matplotlib reads it. */
export const hex = (pixel: number) =>
    `#${[pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255].map((part) => part.toString(16).padStart(2, '0')).join('')}`;

const ACCENT = '#1257b0';
