/** Further results over a plot: their quantities for its axes, and their points. */

import { openTables } from '../../model/openTables.svelte';
import type { Field, Table } from '../../model/resultModel';
import type { NamedQuantity, Overlay } from '../points/layerSettings';
import type { OverlayData } from '../points/plotData';
import type { Alignment } from './layer';
import { degreesOf, foldPoints, linePoints, planePoints, skyPoints, type Points } from '../points/plotPoints';
import { epochOf } from '../points/dayOffset';
import {
    AXES,
    isGalacticColumn,
    isPlottable,
    type Axis,
    type AxisRole,
    type PlotSettings,
    type Quantity,
} from '../points/plotSettings';

/** Load the points of the overlays of a plot, as its own ones. */
export async function loadOverlays(
    fields: readonly Field[],
    settings: PlotSettings,
    alignment: Alignment,
): Promise<OverlayData[]> {
    return Promise.all(
        settings.layers.overlays.map(async (overlay): Promise<OverlayData> => {
            const table = openTables.find(overlay.table)?.table;
            if (!table?.fields.length) return { overlay, points: undefined, problem: 'closed' };
            const axes = AXES[settings.kind].map((role) => overlayAxis(fields, table.fields, settings, overlay, role));
            if (axes.some((axis) => axis.column < 0)) return { overlay, points: undefined, problem: 'columns' };
            return { overlay, points: await loadPoints(table, settings, axes, alignment), problem: undefined };
        }),
    );
}

/** Return an axis of a plot with the quantity of an overlay; column -1 if there is none. */
export function overlayAxis(
    fields: readonly Field[],
    others: readonly Field[],
    settings: PlotSettings,
    overlay: Overlay,
    role: AxisRole,
): Axis {
    const axis = settings.axes[role];
    const named = overlay.axes[role];
    return { ...axis, ...(named ? findNamed(others, named) : matchQuantity(fields, others, axis)) };
}

function findNamed(fields: readonly Field[], { column, minus }: NamedQuantity): Quantity {
    const find = (name: string) => (name ? fields.findIndex((field) => field.name === name) : -1);
    const found = { column: find(column), minus: find(minus) };
    // a difference without its second column would be another quantity
    return minus && found.minus < 0 ? { column: -1, minus: -1 } : found;
}

/** Find the same quantity in another table: by name, otherwise by UCD. */
export function matchQuantity(
    fields: readonly Field[],
    others: readonly Field[],
    { column, minus }: Quantity,
): Quantity {
    const first = matchColumn(fields[column], others);
    if (minus < 0) return { column: first, minus: -1 };
    const second = matchColumn(fields[minus], others);
    return first >= 0 && second >= 0 ? { column: first, minus: second } : { column: -1, minus: -1 };
}

const coreOf = (ucd: string | undefined) => (ucd ?? '').toLowerCase().replace(/;meta\.main$/, '');

function matchColumn(field: Field | undefined, others: readonly Field[]): number {
    if (!field) return -1;
    const suitable = (other: Field) => isPlottable(other) && (other.kind === 'time') === (field.kind === 'time');
    const named = others.findIndex((other) => suitable(other) && other.name.toLowerCase() === field.name.toLowerCase());
    if (named >= 0 || !coreOf(field.ucd)) return named;
    const alike = (exact: boolean) =>
        others.findIndex(
            (other) => suitable(other) && (exact ? other.ucd === field.ucd : coreOf(other.ucd) === coreOf(field.ucd)),
        );
    return alike(true) >= 0 ? alike(true) : alike(false);
}

async function loadPoints(
    table: Table,
    settings: PlotSettings,
    axes: readonly Axis[],
    { centre, dayOffset }: Alignment,
): Promise<Points> {
    const order = await table.readOrder();
    const [x, y] = await Promise.all(
        axes.map(async ({ column, minus, log }) => ({
            values: await table.readNumbers(column),
            minus: minus >= 0 ? await table.readNumbers(minus) : undefined,
            log,
        })),
    );
    if (!y) return linePoints(order, x!);
    if (settings.kind === 'sky') {
        const [longitude, latitude] = axes.map(({ column }) => table.fields[column]!);
        const units = [degreesOf(longitude!.unit ?? ''), degreesOf(latitude!.unit ?? '')] as const;
        const from = isGalacticColumn(longitude) ? 'galactic' : 'equatorial';
        return skyPoints(order, x!.values, y.values, { from, to: settings.frame, centre, units });
    }
    if (settings.kind !== 'curve') return planePoints(order, x!, y);
    const times = shiftTimes(x!.values, dayOffset);
    const points = planePoints(order, { values: times, minus: x!.minus, log: false }, y);
    return foldPoints(points, settings.period, (settings.phaseZero ?? 0) + (dayOffset ?? 0));
}

/** Bring dates to the offset from MJD that the plot has: one result may have MJD and another JD. */
function shiftTimes(times: Float64Array, dayOffset: number | undefined): Float64Array {
    const own = dayOffset === undefined ? undefined : epochOf(times.find((time) => Number.isFinite(time)) ?? NaN);
    const shift = own === undefined ? 0 : dayOffset! - own;
    return shift === 0 ? times : times.map((time) => time + shift);
}
