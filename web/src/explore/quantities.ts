/** What the panels show: columns of a table, and differences of two. */

import { unquoteName } from '../adql/adqlNames';
import { kindOf } from '../model/fieldKind';
import type { Field } from '../model/resultModel';
import { findPlane } from '../plots/points/firstColumns';
import { isMagnitude } from '../plots/points/plotSettings';
import type { Column } from '../tap/vosiTables';

/** A column, or a column minus another. */
export interface Quantity {
    /** as ADQL and addresses write it: `vt_mag`, `bt_mag - vt_mag` */
    readonly name: string;
    /** ADQL of its value as a number: instants are MJD */
    readonly adql: string;
    readonly unit: string;
    /** bright is small: drawn upwards */
    readonly isMagnitude: boolean;
    readonly isTime: boolean;
}

/** More would not fit the marks of `SampledRows`, which has a bit for each, and one for the sky. */
export const MAX_QUANTITIES = 7;
const HISTOGRAMS = 4;

/** Whether a column can be a quantity. */
export function isQuantity(column: Column): boolean {
    const { kind } = fieldOf(column);
    return kind === 'number' || kind === 'time';
}

/** Whether a column can be subtracted and subtracted from. */
export const isSubtractable = (column: Column): boolean => fieldOf(column).kind === 'number';

/** Make the quantity of a column, or of its difference from another. */
export function makeQuantity(column: Column, minus?: Column): Quantity {
    const field = fieldOf(column);
    const isTime = field.kind === 'time';
    const name = minus ? `${column.name} - ${minus.name}` : column.name;
    const unit = isTime ? 'd' : column.unit;
    return { name, adql: isTime ? `ivo_to_mjd(${name})` : name, unit, isMagnitude: isMagnitude(field), isTime };
}

const PART = /\s*("(?:[^"]|"")+"|[^\s"-]+)\s*/y;

/**
 * Read a quantity as an address writes it; undefined if the table has no such columns. Only names of `columns` get
 * into the answer, as the catalogue writes them.
 */
export function parseQuantity(written: string, columns: readonly Column[]): Quantity | undefined {
    const names: string[] = [];
    let at = 0;
    for (;;) {
        PART.lastIndex = at;
        const found = PART.exec(written);
        if (!found) return undefined;
        names.push(found[1]!);
        at = PART.lastIndex;
        if (at === written.length) break;
        if (written[at] !== '-') return undefined;
        at += 1;
    }
    const [column, minus] = names.map((name) => findColumn(columns, name));
    if (!column || !isQuantity(column) || names.length > 2) return undefined;
    if (names.length === 1) return makeQuantity(column);
    return minus && isSubtractable(column) && isSubtractable(minus) ? makeQuantity(column, minus) : undefined;
}

const findColumn = (columns: readonly Column[], name: string): Column | undefined =>
    columns.find((column) => column.name === name) ??
    columns.find((column) => unquoteName(column.name).toLowerCase() === unquoteName(name).toLowerCase());

export interface FirstPanels {
    readonly histograms: readonly Quantity[];
    /** horizontal and vertical quantity of the plane */
    readonly plane: readonly [Quantity, Quantity] | undefined;
}

/** Choose the first panels by UCDs, as for plots: a colour-magnitude diagram if there are two bands. */
export function chooseFirstPanels(columns: readonly Column[], principal?: ReadonlySet<string>): FirstPanels {
    const usable = columns.filter(isQuantity);
    const [x, y] = findPlane(usable.map(fieldOf));
    const [across, minus, up] = [usable[x.column], usable[x.minus], usable[y.column]];
    const plane = across && up && ([makeQuantity(across, minus), makeQuantity(up)] as const);
    const rank = ({ name }: Column): number => Number(principal?.has(name) ?? false);
    const measured = usable.filter(isMeasured).sort((one, other) => rank(other) - rank(one));
    const all = [...(plane ? [plane[1], plane[0]] : []), ...measured.map((column) => makeQuantity(column))];
    return { histograms: uniqueQuantities(all).slice(0, HISTOGRAMS), plane: plane || undefined };
}

/** Return each quantity once. */
export const uniqueQuantities = (all: readonly Quantity[]): Quantity[] =>
    all.filter(({ name }, at) => all.findIndex((other) => other.name === name) === at);

/** Whether a column is measured: no identifier, flag or error, and no position, which the sky shows. */
function isMeasured(column: Column): boolean {
    return !/^(meta|stat|pos\.(eq|galactic|ecliptic)\.)/.test(column.ucd) && !/^(id|ra|dec?)$/i.test(column.name);
}

/** Return a column as a field of a result, whose name is not quoted. */
function fieldOf(column: Column): Field {
    const { datatype, arraysize, xtype, unit, ucd } = column;
    return {
        name: unquoteName(column.name),
        datatype,
        arraysize,
        xtype,
        unit,
        ucd,
        kind: kindOf(datatype, arraysize, xtype),
    };
}

/** Return the label of an axis. */
export const quantityLabel = ({ name, unit, isTime }: Quantity): string =>
    isTime ? `${name} (MJD)` : unit ? `${name} (${unit})` : name;
