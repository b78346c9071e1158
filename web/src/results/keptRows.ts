/** What a result's table shows and in which order, as JSON with columns by name. */

import type { Field, Filter, Sort } from '../model/resultModel';
import { findColumn, nameColumn, type Json } from '../plots/keptSettings';

/** Filters and sorting; texts typed above the columns. */
export interface KeptRows {
    readonly sorting?: Json;
    readonly filters?: Json;
    readonly typed?: Json;
}

export interface ReadRows {
    readonly sorting: readonly Sort[];
    readonly filters: readonly Filter[];
    readonly typed: Readonly<Record<number, string>>;
    /** names of columns that the table does not have */
    readonly unknown: readonly string[];
}

/** Return filters and sorting with columns by name. */
export function keepRows(fields: readonly Field[], { sorting, filters, typed }: Omit<ReadRows, 'unknown'>): KeptRows {
    const written = Object.entries(typed).filter(([, words]) => words.trim());
    const named = <Part extends { readonly column: number }>(part: Part) =>
        ({ ...part, column: nameColumn(fields, part.column) }) as unknown as Json;
    return {
        ...(sorting.length && { sorting: sorting.map(named) }),
        ...(filters.length && { filters: filters.map(named) }),
        ...(written.length && { typed: written.map(([column, words]) => [nameColumn(fields, Number(column)), words]) }),
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
    const typed = (Array.isArray(kept.typed) ? kept.typed : []).flatMap((pair: unknown) => {
        const [name, words] = Array.isArray(pair) ? pair : [];
        const column = typeof words === 'string' ? (findColumn(fields, name) ?? -1) : -1;
        return column < 0 ? [] : [[column, words as string] as const];
    });
    return { sorting, filters, typed: Object.fromEntries(typed), unknown };
}

function readFilter(
    part: { column: number; min?: unknown; max?: unknown; contains?: unknown },
    fields: readonly Field[],
) {
    const { column, min, max, contains } = part;
    const isText = ['text', 'array'].includes(fields[column]!.kind);
    if (isText) return typeof contains === 'string' ? { column, contains } : undefined;
    const ends = {
        ...(typeof min === 'number' && Number.isFinite(min) && { min }),
        ...(typeof max === 'number' && Number.isFinite(max) && { max }),
    };
    return Object.keys(ends).length ? { column, ...ends } : undefined;
}
