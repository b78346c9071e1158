/** The columns that hold the errors of other columns. */

import type { Field } from '../../model/resultModel';
import { AUTOMATIC } from './layerSettings';
import { isPlottable, type Quantity } from './plotSettings';

/** Find the error column of another column by name or UCD; -1 if there is none. */
export function findErrorColumn(fields: readonly Field[], of: number): number {
    const field = fields[of];
    if (!field) return -1;
    const names = [`e_${field.name}`, `${field.name}_error`, `${field.name}_err`, `${field.name}err`].map((n) =>
        n.toLowerCase(),
    );
    const named = fields.findIndex((other) => isPlottable(other) && names.includes(other.name.toLowerCase()));
    if (named >= 0 || !field.ucd) return named;
    return fields.findIndex((other) => isPlottable(other) && other.ucd === `stat.error;${field.ucd}`);
}

/** Return the error columns of a quantity, both of a difference; none if one has no errors. */
export function errorColumns(fields: readonly Field[], quantity: Quantity, chosen: number): number[] {
    if (chosen !== AUTOMATIC) return fields[chosen] ? [chosen] : [];
    const parts = [quantity.column, ...(quantity.minus >= 0 ? [quantity.minus] : [])];
    const found = parts.map((part) => findErrorColumn(fields, part));
    return found.every((column) => column >= 0) ? found : [];
}
