/** Plotted columns, for tooltips and exports. */

import { mjdToIso } from '../../canvas/axisTicks';
import type { Table } from '../../model/resultModel';
import { quantityName, quantityUnit, type Quantity } from './plotSettings';

export interface ShownColumn {
    readonly name: string;
    readonly unit: string;
    value(row: number): number | string;
}

/** Return a quantity of a table; instants as dates. */
export async function shownColumn(table: Table, quantity: Quantity): Promise<ShownColumn> {
    const [values, minus] = await Promise.all([
        table.readNumbers(quantity.column),
        quantity.minus >= 0 ? table.readNumbers(quantity.minus) : undefined,
    ]);
    const named = { name: quantityName(table.fields, quantity), unit: quantityUnit(table.fields, quantity) };
    const dates = table.fields[quantity.column]?.kind === 'time' && !minus;
    return {
        ...named,
        value: (row) => (dates ? mjdToIso(values[row]!, 'ms') : minus ? values[row]! - minus[row]! : values[row]!),
    };
}
