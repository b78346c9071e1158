/** What a result's table shows and in which order, as JSON with columns by name. */

import type { Field, Filter, Sort } from '../model/resultModel';
import { findColumn, nameColumn, type Json } from '../plots/table/keptSettings';

export interface KeptRows {
    readonly sorting?: Json;
    readonly filters?: Json;
}

export interface ReadRows {
    readonly sorting: readonly Sort[];
    readonly filters: readonly Filter[];
    /** names of columns that the table does not have */
    readonly unknown: readonly string[];
}

/** Return filters and sorting with columns by name. Filters to single rows, which have no column, are left out. */
export function keepRows(fields: readonly Field[], { sorting, filters }: Omit<ReadRows, 'unknown'>): KeptRows {
    const ofColumns = filters.filter((filter) => !('rows' in filter));
    const named = <Part extends { readonly column: number }>(part: Part) =>
        ({ ...part, column: nameColumn(fields, part.column) }) as unknown as Json;
    return {
        ...(sorting.length && { sorting: sorting.map(named) }),
        ...(ofColumns.length && { filters: ofColumns.map(named) }),
    };
}

/** Read kept filters and sorting; what does not fit the table is left out. */
export function readRows(kept: KeptRows, fields: readonly Field[]): ReadRows {
    const unknown: string[] = [];
    const columnOf = (name: unknown): number => {
        const column = findColumn(fields, name) ?? -1;
        if (column < 0) unknown.push(String(Array.isArray(name) ? name[0] : name));
        return column;
    };
    const partsOf = (list: unknown) =>
        (Array.isArray(list) ? list : []).flatMap((part: unknown) => {
            if (typeof part !== 'object' || part === null) return [];
            const column = columnOf((part as { column?: unknown }).column);
            return column < 0 ? [] : [{ ...part, column }];
        });
    const sorting = partsOf(kept.sorting).map((part): Sort => ({
        column: part.column,
        descending: 'descending' in part && part.descending === true,
    }));
    const filters = partsOf(kept.filters).flatMap((part) => readFilter(part, fields) ?? []);
    return { sorting, filters, unknown };
}

interface KeptFilter {
    readonly column: number;
    readonly min?: unknown;
    readonly max?: unknown;
    readonly contains?: unknown;
    readonly oneOf?: unknown;
    readonly noneOf?: unknown;
}

const areValues = (values: unknown): values is (string | null)[] =>
    Array.isArray(values) && values.every((value) => value === null || typeof value === 'string');

function readFilter(part: KeptFilter, fields: readonly Field[]): Filter | undefined {
    const { column, min, max, contains, oneOf, noneOf } = part;
    if (areValues(oneOf)) return { column, oneOf };
    if (areValues(noneOf)) return { column, noneOf };
    const isText = ['text', 'array'].includes(fields[column]!.kind);
    if (isText) return typeof contains === 'string' ? { column, contains } : undefined;
    const ends = {
        ...(typeof min === 'number' && Number.isFinite(min) && { min }),
        ...(typeof max === 'number' && Number.isFinite(max) && { max }),
    };
    return Object.keys(ends).length ? { column, ...ends } : undefined;
}
