/** Parts of Python scripts that draw plots with matplotlib: how columns are read, filters, colours. */

import { makeRamp, kindColours } from '../canvas/colourRamps';
import type { Field, Filter, Table } from '../model/resultModel';
import { KIND_COUNT } from '../canvas/colourRamps';
import { parseMjd } from '../model/instants';
import { text } from '../text';
import { quantityLabel, type Quantity } from './plotSettings';
import type { Shades } from './pointShades';
import type { Size } from './plotLayout';

/** What scripts need to know of a table. */
export type ScriptTable = Pick<Table, 'fields' | 'filters'>;

/** Return a Python literal of a text. JSON's texts are such. */
export const py = (content: string): string => JSON.stringify(content);

/** Return a Python literal of a number. */
export function pyNumber(value: number): string {
    if (Number.isNaN(value)) return 'np.nan';
    if (!Number.isFinite(value)) return value > 0 ? 'np.inf' : '-np.inf';
    return String(Number(value.toPrecision(12)));
}

/** Return a label whose dollar signs are not mathematics. */
export const pyLabel = (label: string): string => py(label.replaceAll('$', '\\$'));

const HELPERS = `def numbers(name):
    """Return a column as floats: NaN without a value."""
    return np.ma.filled(np.ma.asarray(rows[name]).astype(float), np.nan)


def words(name):
    """Return a column as texts, empty without a value."""
    return np.array(["" if value is np.ma.masked else str(value) for value in rows[name]])`;

const INSTANTS = `def instants(name):
    """Return a column of ISO 8601 as MJD: NaN without a value."""
    written = np.char.rstrip(words(name), "Z")
    days = np.full(len(written), np.nan)
    known = written != ""
    if known.any():
        days[known] = Time(written[known]).mjd
    return days`;

/** Return the expression for a column: by its name, or by its place where several have it. */
function columnName(fields: readonly Field[], column: number): string {
    const name = fields[column]?.name ?? '';
    const alike = fields.filter((field) => field.name === name).length;
    return alike === 1 ? py(name) : `rows.colnames[${column}]`;
}

/** Return the expression for the numbers of a column. */
export function readColumn(fields: readonly Field[], column: number): string {
    return `${fields[column]?.kind === 'time' ? 'instants' : 'numbers'}(${columnName(fields, column)})`;
}

/** Return the expression for a quantity, with its logarithm if asked. */
export function readQuantity(fields: readonly Field[], { column, minus }: Quantity): string {
    const first = readColumn(fields, column);
    return minus >= 0 ? `${first} - ${readColumn(fields, minus)}` : first;
}

/** Return the beginning of a script: imports, functions that read columns, and the rows that the filters leave. */
export function writeHead(table: ScriptTable, columns: readonly number[], imports: readonly string[] = []): string {
    const { fields, filters } = table;
    const dates = [...columns, ...filters.map(({ column }) => column)].some((at) => fields[at]?.kind === 'time');
    const lines = [...(dates ? ['from astropy.time import Time'] : []), ...imports];
    return [
        ['import numpy as np', ...lines].join('\n'),
        HELPERS,
        ...(dates ? [INSTANTS] : []),
        ['shown = np.ones(len(rows), dtype=bool)', ...filters.map((filter) => writeFilter(fields, filter))].join('\n'),
    ].join('\n\n\n');
}

function writeFilter(fields: readonly Field[], filter: Filter): string {
    if ('contains' in filter) {
        const wanted = py(filter.contains.toLowerCase());
        return `shown &= np.char.find(np.char.lower(words(${columnName(fields, filter.column)})), ${wanted}) >= 0`;
    }
    if ('rows' in filter) throw new Error(text.plots.noScriptOfRows(filter.title));
    const values = readColumn(fields, filter.column);
    if ('oneOf' in filter) return `shown &= ${writeMembership(fields, filter.column, filter.oneOf)}`;
    if ('noneOf' in filter) return `shown &= ~${writeMembership(fields, filter.column, filter.noneOf)}`;
    const ends = [
        ...(filter.min === undefined ? [] : [`shown &= ${values} >= ${filter.min}`]),
        ...(filter.max === undefined ? [] : [`shown &= ${values} <= ${filter.max}`]),
    ];
    return ends.join('\n');
}

/** Return the expression for the rows whose value is one of a list; null is no value. */
function writeMembership(fields: readonly Field[], column: number, values: readonly (string | null)[]): string {
    const { kind } = fields[column]!;
    const known = values.filter((value) => value !== null);
    if (kind === 'text' || kind === 'array')
        return `np.isin(words(${columnName(fields, column)}), [${values.map((value) => py(value ?? '')).join(', ')}])`;
    const numbers = readColumn(fields, column);
    const read = { number: Number, boolean: (value: string) => Number(value === 'true'), time: parseMjd }[kind];
    const within = `np.isin(${numbers}, [${known.map((value) => pyNumber(read(value))).join(', ')}])`;
    return known.length < values.length ? `(${within} | np.isnan(${numbers}))` : within;
}

/** Return the figure and its size in inches. */
export const writeFigure = ({ width, height }: Size): string =>
    `figsize=(${pyNumber(Math.round((width / 96) * 100) / 100)}, ${pyNumber(Math.round((height / 96) * 100) / 100)})`;

/** Return the lines that save and show the figure. */
export const writeEnd = (name: string): string => `fig.savefig(${py(`skyhouse-${name}.pdf`)})\nplt.show()`;

/** Return a colour as matplotlib reads it. */
export const hex = (pixel: number) =>
    `#${[pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255].map((part) => part.toString(16).padStart(2, '0')).join('')}`;

export const ACCENT = '#1257b0';

/** Return the definition of the portal's colour map for light grounds. */
export function writeRamp(): string {
    const ramp = makeRamp(false);
    const stops = Array.from({ length: 9 }, (_, k) => py(hex(ramp[Math.round((255 * k) / 8)]!)));
    return `ramp = LinearSegmentedColormap.from_list("skyhouse", [${stops.join(', ')}])`;
}

/** How points are drawn: the call for all points with a placeholder for options. */
export type PointCall = (mask: string, options: string) => string;

/** Return the lines that draw points in one colour, by a ramp, or by kinds. */
export function writePoints(
    { fields }: ScriptTable,
    shades: Shades | undefined,
    column: number,
    call: PointCall,
    colourBar: (points: string, label: string) => string,
): string[] {
    const field = fields[column];
    if (!shades || !field) return [call('good', `color=${py(ACCENT)}`)];
    if (shades.type === 'values') {
        const [low, high] = shades.range.map(pyNumber);
        const options = `c=colour[good], cmap=ramp, vmin=${low}, vmax=${high}`;
        const label = pyLabel(quantityLabel(fields, { column, minus: -1 }));
        return [`points = ${call('good', options)}`, colourBar('points', label)];
    }
    const colours = Array.from(kindColours(false), hex);
    const isText = field.kind === 'text' || field.kind === 'array';
    const members = shades.names.map((name) => `    (${py(name || '(none)')}, ${py(colours[shades.names.indexOf(name)]!)}, ${kindTest(name, field, isText)}),`); // prettier-ignore
    return [
        'rest = good.copy()',
        'for name, colour, members in [',
        ...members,
        ']:',
        `    ${call('good & members', 'color=colour, label=name')}`,
        '    rest &= ~members',
        ...(shades.others ? [call('rest', `color=${py(colours[KIND_COUNT]!)}, label="others"`)] : []),
        'ax.legend()',
    ];
}

function kindTest(name: string, field: Field, isText: boolean): string {
    if (isText) return `kind == ${py(name)}`;
    if (!name) return '~np.isfinite(kind)';
    return `kind == ${field.kind === 'boolean' ? Number(name === 'true') : name}`;
}

/** Return the line that reads the column of colours; '' without one. */
export function readShades({ fields }: ScriptTable, shades: Shades | undefined, column: number): string[] {
    const field = fields[column];
    if (!shades || !field) return [];
    if (shades.type === 'values') return [`colour = ${readColumn(fields, column)}`];
    const isText = field.kind === 'text' || field.kind === 'array';
    return [isText ? `kind = words(${columnName(fields, column)})` : `kind = ${readColumn(fields, column)}`];
}
