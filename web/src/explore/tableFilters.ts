/** The filters of the panels, as ADQL and as a part of the address. */

import { parseQuantity, type FirstPanels, type Quantity } from './quantities';
import type { Column } from '../tap/vosiTables';

/** Both ends belong to it, as in BETWEEN; an infinite end is none. */
export interface Range {
    readonly min: number;
    readonly max: number;
}

/** The range of a quantity. */
export interface QuantityRange extends Range {
    readonly quantity: Quantity;
}

/** A circle on the sky, ICRS, in degrees. */
export interface Circle {
    readonly ra: number;
    readonly dec: number;
    readonly radius: number;
}

/** All conditions must hold. Ranges by the names of their quantities. */
export interface TableFilters {
    readonly ranges: ReadonlyMap<string, QuantityRange>;
    readonly circle: Circle | undefined;
}

export const NO_FILTERS: TableFilters = { ranges: new Map(), circle: undefined };

export const hasFilters = ({ ranges, circle }: TableFilters): boolean => ranges.size > 0 || circle !== undefined;

/** Return the filters with another range of a quantity, or without one. */
export function withRange(filters: TableFilters, quantity: Quantity, range: Range | undefined): TableFilters {
    const ranges = new Map(filters.ranges);
    if (range) ranges.set(quantity.name, { quantity, min: range.min, max: range.max });
    else ranges.delete(quantity.name);
    return { ...filters, ranges };
}

/** Whether every row that meets `inner` surely meets `outer` too. */
export function isWithin(inner: TableFilters, outer: TableFilters): boolean {
    for (const [name, range] of outer.ranges) {
        const own = inner.ranges.get(name);
        if (!own || own.min < range.min || own.max > range.max) return false;
    }
    if (!outer.circle) return true;
    return inner.circle !== undefined && isSameCircle(inner.circle, outer.circle);
}

const isSameCircle = (one: Circle, other: Circle): boolean =>
    one.ra === other.ra && one.dec === other.dec && one.radius === other.radius;

/** What a query needs to know of a table. */
export interface FilteredTable {
    /** as ADQL writes it */
    readonly table: string;
    /** names of the columns of right ascension and declination; undefined if there are none */
    readonly position: readonly [string, string] | undefined;
}

/** Return the WHERE clause of filters, on a separate line; '' without filters. */
export function whereClause({ position }: FilteredTable, { ranges, circle }: TableFilters): string {
    const conditions = [...ranges.values()].map(rangeCondition);
    if (circle && position) {
        const { ra, dec, radius } = circle;
        conditions.push(`1 = CONTAINS(POINT(${position.join(', ')}), CIRCLE(${ra}, ${dec}, ${radius}))`);
    }
    return conditions.length ? `\nWHERE ${conditions.join('\n  AND ')}` : '';
}

function rangeCondition({ quantity, min, max }: QuantityRange): string {
    if (max === Infinity) return `${quantity.adql} >= ${min}`;
    return min === -Infinity ? `${quantity.adql} <= ${max}` : `${quantity.adql} BETWEEN ${min} AND ${max}`;
}

/** Return the query for the rows that meet the filters. */
export const rowsQuery = (of: FilteredTable, filters: TableFilters): string =>
    `SELECT *\nFROM ${of.table}${whereClause(of, filters)}`;

/** Return the query for their number. */
export const countQuery = (of: FilteredTable, filters: TableFilters): string =>
    `SELECT COUNT(*) AS n\nFROM ${of.table}${whereClause(of, filters)}`;

/** Everything that an address says of the page. */
export interface ExplorerAddress extends FirstPanels {
    readonly filters: TableFilters;
    /** the panels show what the filters leave */
    readonly zoomed: boolean;
    /** rows to sample; undefined: the default */
    readonly sample: number | undefined;
    /** what the table does not have, as written */
    readonly unknown: readonly string[];
}

/** Write the page's state as the parameters of its address. */
export function writeAddress(page: Omit<ExplorerAddress, 'unknown'>): URLSearchParams {
    const parameters = new URLSearchParams();
    for (const { name } of page.histograms) parameters.append('panel', name);
    for (const { name } of page.plane ?? []) parameters.append('plane', name);
    for (const [name, { min, max }] of page.filters.ranges) parameters.append('range', `${name},${min},${max}`);
    const { circle } = page.filters;
    if (circle) parameters.append('circle', `${circle.ra},${circle.dec},${circle.radius}`);
    if (page.zoomed) parameters.append('zoom', '1');
    if (page.sample) parameters.append('sample', String(page.sample));
    return parameters;
}

/** Read an address; what it does not say is taken from `first`. */
export function readAddress(
    parameters: URLSearchParams,
    columns: readonly Column[],
    first: FirstPanels,
): ExplorerAddress {
    const unknown: string[] = [];
    const read = (written: string): Quantity[] => {
        const quantity = parseQuantity(written, columns);
        if (!quantity) unknown.push(written);
        return quantity ? [quantity] : [];
    };
    const ranges = new Map<string, QuantityRange>();
    for (const written of parameters.getAll('range')) {
        const [, name = written, min, max] = /^(.*),([^,]+),([^,]+)$/.exec(written) ?? [];
        const [low, high] = [Number(min), Number(max)];
        for (const quantity of read(name))
            if (low <= high) ranges.set(quantity.name, { quantity, min: low, max: high });
    }
    const [across, up] = parameters.getAll('plane').flatMap(read);
    const sample = Number(parameters.get('sample'));
    return {
        histograms: parameters.has('panel') ? parameters.getAll('panel').flatMap(read) : first.histograms,
        plane: across && up ? [across, up] : first.plane,
        filters: { ranges, circle: readCircle(parameters.get('circle')) },
        zoomed: parameters.has('zoom'),
        sample: sample > 0 && Number.isInteger(sample) ? sample : undefined,
        unknown,
    };
}

/** Read a circle from "ra,dec,radius"; undefined if it is none. */
export function readCircle(written: string | null): Circle | undefined {
    const [ra, dec, radius] = (written ?? '').split(',').map(Number);
    const isValid = ra! >= 0 && ra! <= 360 && Math.abs(dec!) <= 90 && radius! > 0 && radius! <= 180;
    return isValid ? { ra: ra!, dec: dec!, radius: radius! } : undefined;
}
