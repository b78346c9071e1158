/** The settings of scripts that draw corner plots. */

import { commonSettings, quantityOf, type ScriptTable } from '../script/scriptSettings';
import { writeScript } from '../script/writeScript';
import { rangesOf, type RowValues } from '../table/rowValues';

/** Return the Python that draws a corner plot from `rows`. */
export function cornerPython(values: RowValues, table: ScriptTable): string {
    const { corner } = values.settings;
    const quantities = corner.axes.map((axis) => quantityOf(table.fields, axis));
    return writeScript({ ...commonSettings('corner', table, undefined, -1), quantities, ...rangesOf(values) });
}
