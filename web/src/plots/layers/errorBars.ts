/** Error bars of both axes. */

import { quantityName, quantityUnit, type Quantity } from '../points/plotSettings';
import type { Field, Table } from '../../model/resultModel';
import { plotTexts } from '../../text/plotTexts';
import { errorColumns } from '../points/errorColumns';
import { AUTOMATIC, NO_COLUMN } from '../points/layerSettings';
import type { AxisErrors } from '../points/plotData';
import type { PlotSettings } from '../points/plotSettings';
import { columnOf, type ScriptErrors } from '../script/scriptSettings';
import ErrorBarOptions from './ErrorBarOptions.svelte';
import { canHave, type Layer } from './layer';
import { paintErrorBars } from './paintErrorBars';

const texts = plotTexts.layers;

type Axis = Quantity & { readonly log: boolean };

/** An axis with its columns of errors; `lower` may be `AUTOMATIC`, then the upper half is the same. */
interface ErrorSource {
    readonly along: 'x' | 'y';
    readonly axis: Axis;
    readonly lower: number;
    readonly upper: number;
}

export const errorBars: Layer = {
    title: texts.errors,
    kinds: ['scatter'],
    // the options of a light curve have the errors of its values
    isOn: ({ xError, yError }) => xError !== NO_COLUMN || yError !== NO_COLUMN,
    kept: {
        usual: { xError: NO_COLUMN, yError: NO_COLUMN, xErrorUp: NO_COLUMN, yErrorUp: NO_COLUMN },
        columns: ['xError', 'yError', 'xErrorUp', 'yErrorUp'],
    },
    // columns that were chosen for another quantity are found again
    afterAxis: (layers, role) => {
        if (role !== 'x' && role !== 'y') return {};
        const [lower, upper] = [`${role}Error`, `${role}ErrorUp`] as const;
        return { [lower]: layers[lower] >= 0 ? AUTOMATIC : layers[lower], [upper]: NO_COLUMN };
    },
    load: async ({ table, settings }) => {
        const sources = sourcesOf(settings);
        const load = (along: 'x' | 'y') => {
            const source = sources.find((one) => one.along === along);
            return source && loadErrors(table, source);
        };
        return { xErrors: await load('x'), yErrors: await load('y') };
    },
    paint: { under: paintErrorBars },
    describe: ({ layers: { xErrors, yErrors } }) => {
        const columns = [xErrors, yErrors].flatMap((axis) => axis?.columns.map(({ name }) => name) ?? []);
        return columns.length > 0 ? [texts.description.errors(columns.join(', '))] : [];
    },
    script: ({ fields, data }) => ({ errors: scriptErrors(fields, data.settings) }),
    Options: ErrorBarOptions,
};

/** Return where the errors of a plot's axes come from. */
function sourcesOf(settings: PlotSettings): ErrorSource[] {
    const { layers, axes, kind } = settings;
    if (kind === 'curve') return [{ along: 'y', axis: axes.flux, lower: settings.error, upper: NO_COLUMN }];
    if (!canHave(errorBars, settings)) return [];
    return [
        { along: 'x', axis: axes.x, lower: layers.xError, upper: layers.xErrorUp },
        { along: 'y', axis: axes.y, lower: layers.yError, upper: layers.yErrorUp },
    ];
}

const hasUpper = (fields: readonly Field[], { lower, upper }: ErrorSource): boolean =>
    lower !== AUTOMATIC && fields[upper] !== undefined;

async function loadErrors(table: Table, source: ErrorSource): Promise<AxisErrors | undefined> {
    const { fields } = table;
    const { axis, lower, upper } = source;
    const columns = errorColumns(fields, axis, lower);
    if (columns.length === 0) return undefined;
    const unit = quantityUnit(fields, axis);
    const low = await readErrors(table, columns);
    const name = columns.length === 1 ? fields[columns[0]!]!.name : texts.errorOf(quantityName(fields, axis));
    const shown = { name, unit, value: (row: number) => low[row]! };
    if (!hasUpper(fields, source)) return { low, high: low, log: axis.log, columns: [shown] };
    const high = await readErrors(table, [upper]);
    const shownHigh = { name: fields[upper]!.name, unit, value: (row: number) => high[row]! };
    return { low, high, log: axis.log, columns: [shown, shownHigh] };
}

/** Read errors, several added in quadrature. Lower errors are negative in some catalogues. */
async function readErrors(table: Table, columns: readonly number[]): Promise<Float64Array> {
    const [one, other] = await Promise.all(columns.map((column) => table.readNumbers(column)));
    return other ? one!.map((error, row) => Math.hypot(error, other[row]!)) : one!.map(Math.abs);
}

function scriptErrors(fields: readonly Field[], settings: PlotSettings): ScriptErrors[] {
    return sourcesOf(settings).flatMap((source) => {
        const columns = errorColumns(fields, source.axis, source.lower);
        if (columns.length === 0) return [];
        const upper = hasUpper(fields, source) ? columnOf(fields, source.upper) : null;
        return [{ axis: source.along, columns: columns.map((column) => columnOf(fields, column)), upper }];
    });
}
