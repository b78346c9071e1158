/** The data of a plot: columns of the table as points. */

import type { Table } from '../../model/resultModel';
import { toVector } from '../../sky/directions';
import { frameConversion } from '../../sky/skyFrames';
import { epochOf } from '../points/dayOffset';
import { loadLayers } from '../layers/layerTable';
import { colourColumn, type PlotData } from '../points/plotData';
import { degreesOf, foldPoints, linePoints, planePoints, skyPoints } from '../points/plotPoints';
import { AXES, isGalacticColumn, type Axis, type AxisRole, type PlotSettings } from '../points/plotSettings';
import {
    kindShades,
    namedCodes,
    numberCodes,
    textCodes,
    valueShades,
    withValue,
    type Codes,
} from '../points/pointShades';
import { shownColumn, type ShownColumn } from '../points/shownColumn';
import { SkyCellCounts } from '../points/skyCellCounts';

/** Load the columns of the settings; 'columns' if an axis has none yet. */
export async function loadPlotData(table: Table, settings: PlotSettings): Promise<PlotData | 'columns'> {
    const { kind, axes } = settings;
    const wanted = AXES[kind].map((role) => axes[role]);
    if (wanted.some(({ column }) => !table.fields[column])) return 'columns';
    const order = await table.readOrder();
    const basic = kind === 'sky' ? await loadSky(table, settings, order) : await loadPlane(table, settings, order);
    const { coloured, ...rest } = await loadShades(table, settings, basic);
    const columns = await Promise.all(wanted.map((axis) => shownColumn(table, axis)));
    const layers = await loadLayers({ table, settings, alignment: rest });
    const errors = [layers.xErrors, layers.yErrors].flatMap((axis) => axis?.columns ?? []);
    return { settings, ...rest, layers, columns: [...columns, ...errors, ...coloured] };
}

type BasicData = Pick<PlotData, 'points' | 'centre' | 'cells' | 'epoch' | 'dayOffset'>;
const PLAIN = { centre: 0, cells: undefined, epoch: undefined, dayOffset: undefined };

export async function columnsOf(table: Table, axis: Axis) {
    const [values, minus] = await Promise.all([
        table.readNumbers(axis.column),
        axis.minus >= 0 ? table.readNumbers(axis.minus) : undefined,
    ]);
    return { values, minus, log: axis.log };
}

async function loadPlane(table: Table, settings: PlotSettings, order: Uint32Array): Promise<BasicData> {
    const [horizontal, vertical] = AXES[settings.kind].map((role: AxisRole) => settings.axes[role]);
    const x = await columnsOf(table, horizontal!);
    if (!vertical) return { ...PLAIN, points: linePoints(order, x) };
    const y = await columnsOf(table, vertical);
    if (settings.kind !== 'curve') return { ...PLAIN, points: planePoints(order, x, y) };
    const points = planePoints(order, { ...x, log: false }, y);
    const field = table.fields[horizontal!.column]!;
    const days = horizontal!.minus < 0 && (field.kind === 'time' || field.unit === 'd' || /jd/i.test(field.name));
    const offset = days ? epochOf(points.extent.u0) : undefined;
    return {
        ...PLAIN,
        points: foldPoints(points, settings.period, (settings.phaseZero ?? 0) + (offset ?? 0)),
        epoch: settings.period > 0 ? undefined : offset,
        dayOffset: offset,
    };
}

async function loadSky(table: Table, settings: PlotSettings, order: Uint32Array): Promise<BasicData> {
    const { longitude, latitude } = settings.axes;
    const [longitudes, latitudes] = [
        await table.readNumbers(longitude.column),
        await table.readNumbers(latitude.column),
    ];
    const field = table.fields[longitude.column]!;
    const from = isGalacticColumn(field) ? 'galactic' : 'equatorial';
    const units = [degreesOf(field.unit ?? ''), degreesOf(table.fields[latitude.column]?.unit ?? '')] as const;
    const usual = settings.frame === 'galactic' ? 0 : 180;
    const frames = { from, to: settings.frame, units } as const;
    const middle = settings.centre ?? middleOf(order, longitudes, latitudes, frames) ?? usual;
    const points = skyPoints(order, longitudes, latitudes, { ...frames, centre: middle });
    return {
        ...PLAIN,
        points,
        centre: middle,
        cells: new SkyCellCounts(points.rows, longitudes, latitudes, from, units),
    };
}

/** Length of the mean direction above which the map is centred on the points. */
const ALIKE = 0.9;

/** Return the central longitude of the directions, in whole degrees; undefined if they cover the sky. */
function middleOf(
    order: Uint32Array,
    longitudes: Float64Array,
    latitudes: Float64Array,
    frames: { from: 'equatorial' | 'galactic'; to: 'equatorial' | 'galactic'; units: readonly [number, number] },
): number | undefined {
    const convert = frameConversion(frames.from, frames.to);
    const stride = Math.max(1, Math.floor(order.length / 2000));
    const sum = [0, 0, 0];
    let count = 0;
    for (let k = 0; k < order.length; k += stride) {
        const [longitude, latitude] = [
            longitudes[order[k]!]! * frames.units[0],
            latitudes[order[k]!]! * frames.units[1],
        ];
        if (!Number.isFinite(longitude) || !(Math.abs(latitude) <= 90)) continue;
        toVector(...convert(longitude, latitude)).forEach((part, axis) => (sum[axis]! += part));
        count++;
    }
    if (!count || Math.hypot(...sum) / count < ALIKE) return undefined;
    return (Math.round((Math.atan2(sum[1]!, sum[0]!) * 180) / Math.PI) + 360) % 360;
}

type ShadedData = BasicData & Pick<PlotData, 'shades'> & { coloured: ShownColumn[] };

async function loadShades(table: Table, settings: PlotSettings, basic: BasicData): Promise<ShadedData> {
    const column = colourColumn(settings);
    const field = table.fields[column];
    if (!field) return { ...basic, shades: undefined, coloured: [] };
    const codes = await codesOf(table, column);
    if (codes) {
        const value = (row: number) => codes.names[codes.codes[row]!] ?? '';
        const coloured = [{ name: field.name, unit: '', value }];
        return { ...basic, shades: kindShades(basic.points, codes), coloured };
    }
    const values = await table.readNumbers(column);
    const points = withValue(basic.points, values);
    const coloured = [await shownColumn(table, { column, minus: -1 })];
    return { ...basic, points, shades: valueShades(points, values), coloured };
}

export async function codesOf(table: Table, column: number): Promise<Codes | undefined> {
    const field = table.fields[column]!;
    if (field.kind === 'text' || field.kind === 'array') return textCodes(table, column);
    return namedCodes(field, numberCodes(await table.readNumbers(column)));
}
