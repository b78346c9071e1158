/** The columns that the layers of a plot need: errors, the order of lines, other results. */

import { AUTOMATIC, NO_COLUMN } from '../layers/layerSettings';
import { openTables } from '../model/openTables.svelte';
import type { Table } from '../model/resultModel';
import { text } from '../text';
import { errorColumns } from './defaultSettings';
import { canHaveLayer } from './offeredLayers';
import { loadOverlays, type OverlayData, type PlotFrame } from './overlayData';
import { quantityName, quantityUnit, type PlotSettings, type Quantity } from './plotSettings';
import type { ShownColumn } from './shownColumn';

/** Half error bars of each row, in values of the axis. */
export interface AxisErrors {
    readonly low: Float64Array;
    readonly high: Float64Array;
    readonly log: boolean;
    /** columns for tooltips and exports */
    readonly columns: readonly ShownColumn[];
}

export interface LayerData {
    readonly xErrors: AxisErrors | undefined;
    readonly yErrors: AxisErrors | undefined;
    /** what orders connected points, by row; undefined: the horizontal axis */
    readonly order: Float64Array | undefined;
    readonly overlays: readonly OverlayData[];
    /** of the plot's own result; '' if it has none */
    readonly title: string;
}

/** Load what the layers of the settings need. */
export async function loadLayers(table: Table, settings: PlotSettings, frame: PlotFrame): Promise<LayerData> {
    const { layers, axes, kind } = settings;
    const ordered = layers.connected && canHaveLayer(settings, 'connected') ? layers.orderedBy : NO_COLUMN;
    const curve = kind === 'curve' ? { ...axes.flux, columns: [settings.error, NO_COLUMN] as const } : undefined;
    const plane = canHaveLayer(settings, 'errors');
    return {
        xErrors: plane ? await loadErrors(table, axes.x, [layers.xError, layers.xErrorUp]) : undefined,
        yErrors: curve
            ? await loadErrors(table, curve, curve.columns)
            : plane
              ? await loadErrors(table, axes.y, [layers.yError, layers.yErrorUp])
              : undefined,
        order: ordered >= 0 ? await table.readNumbers(ordered) : undefined,
        overlays: await loadOverlays(table.fields, settings, frame),
        title: openTables.list.find((opened) => opened.table === table)?.title ?? '',
    };
}

async function loadErrors(
    table: Table,
    axis: Quantity & { readonly log: boolean },
    [lower, upper]: readonly [number, number],
): Promise<AxisErrors | undefined> {
    const columns = errorColumns(table.fields, axis, lower);
    if (columns.length === 0) return undefined;
    const low = await readErrors(table, columns);
    const unit = quantityUnit(table.fields, axis);
    const of =
        columns.length === 1
            ? table.fields[columns[0]!]!.name
            : text.plots.layers.errorOf(quantityName(table.fields, axis));
    const shown = { name: of, unit, value: (row: number) => low[row]! };
    // found ones are symmetric
    if (lower === AUTOMATIC || !table.fields[upper]) return { low, high: low, log: axis.log, columns: [shown] };
    const high = await readErrors(table, [upper]);
    const shownHigh = { name: table.fields[upper].name, unit, value: (row: number) => high[row]! };
    return { low, high, log: axis.log, columns: [shown, shownHigh] };
}

/** Read errors, several added in quadrature. Lower errors are negative in some catalogues. */
async function readErrors(table: Table, columns: readonly number[]): Promise<Float64Array> {
    const [one, other] = await Promise.all(columns.map((column) => table.readNumbers(column)));
    return other ? one!.map((error, row) => Math.hypot(error, other[row]!)) : one!.map(Math.abs);
}

/** Return both ends of an error bar in scaled values; a bar without a logarithm has no lower end. */
export function barEnds(value: number, row: number, { low, high, log }: AxisErrors): [number, number] {
    const [down, up] = [low[row]!, high[row]!];
    if (!log) return [value - down, value + up];
    const plain = 10 ** value;
    return [plain > down ? Math.log10(plain - down) : -Infinity, Math.log10(plain + up)];
}

/** Return the mean half error of a row in scaled values: the error of a logarithm on a log axis. */
export function scaledError(value: number, row: number, { low, high, log }: AxisErrors): number {
    const mean = (low[row]! + high[row]!) / 2;
    return log ? mean / (10 ** value * Math.LN10) : mean;
}
