/** The rows of a light curve as one series, for a period of all its bands. */

import { codesOf } from '../table/plotLoader';
import type { TimeSeries } from '../../statistics/lombScargle';
import type { Table } from '../../model/resultModel';
import { columnsOf } from '../table/plotLoader';
import type { PlotSettings } from '../points/plotSettings';
import { scaleValues } from '../points/plotPoints';

/** Return the series of the shown rows. Raises an Error if the service does. */
export async function readCurveSeries(table: Table, settings: PlotSettings): Promise<TimeSeries> {
    const { axes, error, band } = settings;
    const order = await table.readOrder();
    const times = scaleValues({ ...(await columnsOf(table, axes.time)), log: false });
    const values = scaleValues(await columnsOf(table, axes.flux));
    const errors = error >= 0 && !axes.flux.log ? await table.readNumbers(error) : undefined;
    const bands = band >= 0 ? (await codesOf(table, band))?.codes : undefined;
    const rows = order.filter((row) => Number.isFinite(times[row]!) && Number.isFinite(values[row]!));
    const of = (column: ArrayLike<number>): Float64Array => Float64Array.from(rows, (row) => column[row]!);
    const known = errors && rows.every((row) => errors[row]! > 0);
    return {
        times: of(times),
        values: bands ? centreBands(of(values), of(bands)) : of(values),
        errors: known ? of(errors) : undefined,
    };
}

/** Subtract the mean of each band from its values, so that all bands contribute to one period. */
export function centreBands(values: Float64Array, bands: Float64Array): Float64Array {
    const sums = new Map<number, { sum: number; count: number }>();
    values.forEach((value, k) => {
        const known = sums.get(bands[k]!) ?? { sum: 0, count: 0 };
        sums.set(bands[k]!, { sum: known.sum + value, count: known.count + 1 });
    });
    return values.map((value, k) => {
        const { sum, count } = sums.get(bands[k]!)!;
        return value - sum / count;
    });
}
