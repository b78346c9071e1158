/** Several quantities of the rows that have all of them, for corner plots and plots in space. */

import type { Field, Table } from '../../model/resultModel';
import { escapeLabel } from '../script/scriptSettings';
import { frameRotation } from '../../sky/skyFrames';
import { DEGREE } from '../../sky/directions';
import { isGalacticColumn } from '../points/plotSettings';
import { codesOf } from './plotLoader';
import { isParallax } from './formDefaults';
import { padRange } from '../points/plotLayout';
import { columnsOf } from './plotLoader';
import { shownColumn, type ShownColumn } from '../points/shownColumn';
import { degreesOf, scaleValues } from '../points/plotPoints';
import { isReversed, NO_AXIS, quantityLabel, type Axis, type PlotSettings } from '../points/plotSettings';
import { kindShades, valueShades, type Shades } from '../points/pointShades';

/** A quantity: scaled values of the points, and the ends of its axis. */
export interface ValueAxis {
    readonly label: string;
    readonly log: boolean;
    readonly values: Float64Array<ArrayBuffer>;
    /** from left to right or from the bottom to the top; reversed: the greater value first */
    readonly range: readonly [number, number];
}

/** Sizes of points by a column. */
export interface PointSizes {
    readonly label: string;
    /** 0 (the smallest disc) to 255 for each point */
    readonly points: Uint8Array<ArrayBuffer>;
    /** the values of the smallest and the largest disc */
    readonly range: readonly [number, number];
}

export interface RowValues {
    readonly settings: PlotSettings;
    /** the row of each point */
    readonly rows: Uint32Array<ArrayBuffer>;
    readonly axes: readonly ValueAxis[];
    /** rows without a value of a quantity */
    readonly missing: number;
    /** rows without a logarithm or a distance: zero or negative */
    readonly notPositive: number;
    /** rows beyond the trimmed axes */
    readonly beyond: number;
    readonly shades: Shades | undefined;
    /** undefined: all equal */
    readonly sizes: PointSizes | undefined;
    /** the plotted columns, for tooltips and files */
    readonly columns: readonly ShownColumn[];
}

/** A quantity of all rows: NaN without a value, -Infinity without a logarithm. */
interface RawAxis {
    readonly label: string;
    readonly log: boolean;
    readonly reversed: boolean;
    readonly scaled: Float64Array<ArrayBuffer>;
}

/** Load the quantities of a corner plot or a plot in space; 'columns' if some are not chosen. */
export async function loadRowValues(table: Table, settings: PlotSettings): Promise<RowValues | 'columns'> {
    const inSpace = settings.kind === 'space';
    const byPosition = inSpace && settings.space.by === 'positions';
    const wanted = inSpace ? settings.space.axes : settings.corner.axes;
    const shown = byPosition ? [settings.axes.longitude, settings.axes.latitude] : wanted;
    if (shown.length < 2 || shown.some(({ column }) => !table.fields[column])) return 'columns';
    const order = await table.readOrder();
    const raw = byPosition
        ? await placePositions(table, settings)
        : await Promise.all(wanted.map((axis) => readAxis(table, axis)));
    const extra = inSpace ? [settings.colour, byPosition ? settings.space.distance : -1, settings.space.sizes] : [];
    const quantities = [...shown, ...extra.filter((column) => column >= 0).map((column) => ({ column, minus: -1 }))];
    const distinct = quantities.filter((one, at) => quantities.findIndex((two) => two.column === one.column && two.minus === one.minus) === at); // prettier-ignore
    const columns = await Promise.all(distinct.map((quantity) => shownColumn(table, quantity)));
    const colour = inSpace ? await readColour(table, settings.colour) : undefined;
    // there are no outliers on the unit sphere
    const trimmed = inSpace ? settings.space.trimmed && !(byPosition && settings.space.distance < 0) : settings.corner.trimmed; // prettier-ignore
    const gathered = gatherPoints(order, raw, colour?.values, trimmed);
    const axes = byPosition ? equalizeRanges(gathered.axes) : gathered.axes;
    const shades = colour && shadesOf(gathered.rows, colour);
    const sizes = inSpace ? await readSizes(table, settings.space.sizes, gathered.rows) : undefined;
    return { settings, ...gathered, axes, columns, shades, sizes };
}

async function readAxis(table: Table, axis: Axis): Promise<RawAxis> {
    return {
        label: quantityLabel(table.fields, axis),
        log: axis.log,
        reversed: isReversed(table.fields, axis),
        scaled: scaleValues(await columnsOf(table, axis)),
    };
}

/** Return positions as x, y, z in the frame shown: at their distances, or on the unit sphere. */
async function placePositions(table: Table, settings: PlotSettings): Promise<RawAxis[]> {
    const { longitude, latitude } = settings.axes;
    const far = settings.space.distance;
    const [longitudes, latitudes, distances] = await Promise.all([
        table.readNumbers(longitude.column),
        table.readNumbers(latitude.column),
        far >= 0 ? table.readNumbers(far) : undefined,
    ]);
    const from = isGalacticColumn(table.fields[longitude.column]) ? 'galactic' : 'equatorial';
    const units = [longitude, latitude].map(({ column }) => degreesOf(table.fields[column]?.unit ?? '') * DEGREE);
    const toDistance = distanceScale(table, far);
    const turned = frameRotation(from, settings.frame, 0);
    const positions = [0, 1, 2].map(() => new Float64Array(longitudes.length).fill(NaN));
    for (let row = 0; row < longitudes.length; row++) {
        const [l, b] = [longitudes[row]! * units[0]!, latitudes[row]! * units[1]!];
        const distance = distances ? toDistance(distances[row]!) : 1;
        if (!Number.isFinite(l + b + distance) || Math.abs(b) > QUARTER) continue;
        const direction = [Math.cos(b) * Math.cos(l), Math.cos(b) * Math.sin(l), Math.sin(b)] as const;
        for (let k = 0; k < 3; k++) {
            const along = turned[3 * k]! * direction[0] + turned[3 * k + 1]! * direction[1] + turned[3 * k + 2]! * direction[2]; // prettier-ignore
            positions[k]![row] = distance > 0 ? distance * along : -Infinity;
        }
    }
    const unit = far < 0 ? '' : isParallax(table.fields[far]) ? 'pc' : (table.fields[far]?.unit ?? '');
    return positions.map((scaled, k) => ({
        label: `${'xyz'[k]}${unit && ` [${unit}]`}`,
        log: false,
        reversed: false,
        scaled,
    }));
}

const QUARTER = 90.0000001 * DEGREE;

/** Return the conversion of a column's values to distances: parallaxes to parsec, distances as they are. */
function distanceScale(table: Table, column: number): (value: number) => number {
    const field = table.fields[column];
    if (!isParallax(field)) return (value) => value;
    const perArcsecond = parsecScale(field);
    // a parallax of 0 or less has no distance
    return (value) => (value > 0 ? perArcsecond / value : Number.isNaN(value) ? NaN : 0);
}

/** Return the distance in parsec at a parallax of 1 in the unit of a column; without a unit, of a milliarcsecond. */
export const parsecScale = (field: Field | undefined): number =>
    ({ arcsec: 1, uas: 1e6, deg: 1 / 3600, rad: DEGREE / 3600 })[field?.unit ?? ''] ?? 1000;

/** Return ranges and labels of the axes, as scripts read them. */
export const rangesOf = ({ axes }: RowValues) => ({
    ranges: axes.map(({ range }) => range),
    labels: axes.map(({ label, log }) => escapeLabel(log ? `log10 ${label}` : label)),
});

interface Gathered {
    rows: Uint32Array<ArrayBuffer>;
    axes: ValueAxis[];
    missing: number;
    notPositive: number;
    beyond: number;
}

/** Gather the points that have all values; skip rows that have not arrived. */
export function gatherPoints(
    order: Uint32Array,
    raw: readonly RawAxis[],
    needed: Float64Array | undefined,
    trimmed: boolean,
): Gathered {
    const complete = new Uint32Array(order.length);
    const known = Math.min(...raw.map(({ scaled }) => scaled.length));
    let [count, missing, notPositive] = [0, 0, 0];
    for (let k = 0; k < order.length; k++) {
        const row = order[k]!;
        if (row >= known) continue;
        let lacks = needed !== undefined && !Number.isFinite(needed[row]) ? NaN : 0;
        for (let axis = 0; axis < raw.length; axis++) {
            const value = raw[axis]!.scaled[row]!;
            if (!Number.isFinite(value)) lacks = Number.isNaN(lacks) ? lacks : value;
        }
        if (lacks === 0) complete[count++] = row;
        else if (Number.isNaN(lacks)) missing++;
        else notPositive++;
    }
    const whole = complete.subarray(0, count);
    const ends = raw.map(({ scaled }) => padRange(...endsOf(whole, scaled, trimmed ? TAIL : 0)));
    const rows = trimmed
        ? whole.filter((row) => raw.every(({ scaled }, k) => isWithin(scaled[row]!, ends[k]!)))
        : whole;
    const axes = raw.map(({ label, log, reversed, scaled }, k) => {
        const values = new Float64Array(rows.length);
        for (let point = 0; point < rows.length; point++) values[point] = scaled[rows[point]!]!;
        const [low, high] = ends[k]!;
        return { label, log, values, range: reversed ? ([high, low] as const) : ([low, high] as const) };
    });
    return { rows, axes, missing, notPositive, beyond: whole.length - rows.length };
}

/** Share of values that is left out at each end. */
const TAIL = 0.001;
const SAMPLE = 20_000;

/** Return the least and the greatest value of rows, without the outermost share at each end. */
function endsOf(rows: Uint32Array, scaled: Float64Array, tail: number): [number, number] {
    let [least, most] = [Infinity, -Infinity];
    for (const row of rows) {
        const value = scaled[row]!;
        if (value < least) least = value;
        if (value > most) most = value;
    }
    if (!tail || rows.length * tail < 1) return least <= most ? [least, most] : [NaN, NaN];
    const stride = Math.max(1, Math.floor(rows.length / SAMPLE));
    const sample = new Float64Array(Math.floor(rows.length / stride));
    for (let k = 0; k < sample.length; k++) sample[k] = scaled[rows[k * stride]!]!;
    sample.sort();
    const at = (part: number) => sample[Math.round(part * (sample.length - 1))]!;
    const [low, high] = [at(tail), at(1 - tail)];
    const room = high - low;
    // values a little beyond are no outliers
    return [Math.max(least, low - 0.1 * room), Math.min(most, high + 0.1 * room)];
}

const isWithin = (value: number, [low, high]: readonly [number, number]) => value >= low && value <= high;

/** Give all axes the same range, so that distances can be compared. */
function equalizeRanges(axes: readonly ValueAxis[]): ValueAxis[] {
    const half = Math.max(...axes.map(({ range: [low, high] }) => (high - low) / 2));
    return axes.map((axis) => {
        const middle = (axis.range[0] + axis.range[1]) / 2;
        return { ...axis, range: [middle - half, middle + half] };
    });
}

type Colour =
    { codes: NonNullable<Awaited<ReturnType<typeof codesOf>>>; values?: undefined } | { values: Float64Array };

async function readColour(table: Table, column: number): Promise<Colour | undefined> {
    if (!table.fields[column]) return undefined;
    const codes = await codesOf(table, column);
    return codes ? { codes } : { values: await table.readNumbers(column) };
}

function shadesOf(rows: Uint32Array<ArrayBuffer>, colour: Colour): Shades {
    const points = { rows, count: rows.length };
    return colour.values ? valueShades(points, colour.values) : kindShades(points, colour.codes);
}

/** Return the size of each point: the greatest values the largest, of magnitudes the brightest. */
async function readSizes(table: Table, column: number, rows: Uint32Array): Promise<PointSizes | undefined> {
    if (!table.fields[column]) return undefined;
    const values = await table.readNumbers(column);
    const known = rows.filter((row) => Number.isFinite(values[row]));
    const [low, high] = endsOf(known, values, 0.01);
    const axis = { ...NO_AXIS, column };
    const [least, most] = isReversed(table.fields, axis) ? [high, low] : [low, high];
    const points = new Uint8Array(rows.length);
    for (let k = 0; k < rows.length; k++) {
        const part = (values[rows[k]!]! - least) / (most - least || 1);
        // rows without a size are the smallest
        points[k] = part > 0 ? Math.round(255 * Math.min(1, part)) : 0;
    }
    return { label: quantityLabel(table.fields, axis), points, range: [least, most] };
}
