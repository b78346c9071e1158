/** What a user has chosen in the query builder. It is kept in the browser as JSON. */

import type { CandidateColumn, Position } from '../uploads/positionGuess';

/** How a joined table finds the rows of an earlier one. */
export interface DraftJoin {
    /** alias of the earlier table */
    readonly with: string;
    readonly by: 'columns' | 'position';
    /** equal columns: of this table, and of the earlier one */
    readonly pairs: readonly { readonly own: string; readonly other: string }[];
    /** largest separation, as typed; a bare number is in arcseconds */
    readonly radius: string;
    /** the separation becomes a column */
    readonly separation: boolean;
    /** rows without a partner are kept */
    readonly keepAll: boolean;
}

export interface DraftTable {
    readonly alias: string;
    /** as ADQL writes it */
    readonly table: string;
    /** undefined for the first table */
    readonly join?: DraftJoin;
}

export const SUMMARIES = ['AVG', 'MIN', 'MAX', 'SUM', 'COUNT'] as const;
export type Summary = (typeof SUMMARIES)[number];

export interface DraftColumn {
    readonly alias: string;
    readonly column: string;
    /** its summary in a query of groups; undefined: rows are grouped by it */
    readonly summary?: Summary;
}

export const TESTS = {
    number: ['between', 'above', 'below', 'is', 'isNot', 'known', 'unknown'],
    time: ['between', 'above', 'below', 'known', 'unknown'],
    text: ['contains', 'begins', 'is', 'isNot', 'known', 'unknown'],
    boolean: ['true', 'false', 'known', 'unknown'],
    array: ['known', 'unknown'],
} as const satisfies Record<CandidateColumn['kind'], readonly string[]>;
export type Test = (typeof TESTS)[CandidateColumn['kind']][number];

export interface DraftCondition {
    readonly id: string;
    readonly alias: string;
    readonly column: string;
    readonly test: Test;
    /** as typed */
    readonly value: string;
    /** the upper end of a range, as typed */
    readonly upper: string;
    /** values chosen from the values of the column */
    readonly chosen: readonly string[];
}

export interface DraftRegion {
    readonly shape: 'everywhere' | 'circle' | 'box';
    readonly alias: string;
    /** name or position, as typed */
    readonly target: string;
    /** the position found for `target`; `name` is '' for a position */
    readonly centre?: { readonly ra: number; readonly dec: number; readonly name: string } | undefined;
    /** radius, or width and height, as typed; bare numbers are in degrees */
    readonly size: string;
    readonly height: string;
    /** the distance from the centre becomes a column */
    readonly distance: boolean;
}

export interface QueryDraft {
    readonly tables: readonly DraftTable[];
    readonly columns: readonly DraftColumn[];
    readonly conditions: readonly DraftCondition[];
    readonly region: DraftRegion;
    /** rows; groups of rows with summaries; or the number of rows alone */
    readonly result: 'rows' | 'groups' | 'count';
    /** `column`: the key of an output */
    readonly order: readonly { readonly output: string; readonly descending: boolean }[];
    /** most rows, as typed; '' for all */
    readonly limit: string;
}

/** Known facts about a table of the draft. */
export interface TableSide {
    readonly alias: string;
    readonly table: string;
    readonly columns: readonly CandidateColumn[];
    readonly position?: Position | undefined;
}

export const EMPTY_REGION: DraftRegion = {
    ...{ shape: 'everywhere', alias: '', target: '', size: '0.5', height: '0.5', distance: false },
};

export const EMPTY_DRAFT: QueryDraft = {
    ...{ tables: [], columns: [], conditions: [], region: EMPTY_REGION, result: 'rows', order: [], limit: '' },
};

export const EMPTY_JOIN: Omit<DraftJoin, 'with'> = {
    ...{ by: 'position', pairs: [], radius: '2 arcsec', separation: true, keepAll: false },
};

/** Return an alias that no table of the draft has: a, b, c ... */
export function freeAlias(tables: readonly DraftTable[]): string {
    const letters = [...'abcdefghijklmnopqrstuvwxyz'];
    return letters.find((letter) => tables.every(({ alias }) => alias !== letter)) ?? `t${tables.length + 1}`;
}

/** Remove a table, the tables that are joined through it, and everything that names them. */
export function removeTable(draft: QueryDraft, alias: string): QueryDraft {
    const gone = new Set([alias]);
    for (const table of draft.tables) if (table.join && gone.has(table.join.with)) gone.add(table.alias);
    const stays = (of: { readonly alias: string }) => !gone.has(of.alias);
    return {
        ...draft,
        tables: draft.tables.filter(stays),
        columns: draft.columns.filter(stays),
        conditions: draft.conditions.filter(stays),
        region: gone.has(draft.region.alias) ? { ...draft.region, shape: 'everywhere', alias: '' } : draft.region,
    };
}

/** Return a column as a query of groups has it at first: the mean of numbers; rows are grouped by all others. */
export function summarizeColumn({ alias, columns }: TableSide, column: string): DraftColumn {
    const kind = columns.find(({ name }) => name === column)?.kind;
    return kind === 'number' ? { alias, column, summary: 'AVG' } : { alias, column };
}

/** Make a draft a query of groups: without identifiers and positions, which differ in each row. */
export function groupRows(draft: QueryDraft, sides: readonly TableSide[]): QueryDraft {
    const columns = sides.flatMap((side) => {
        const { alias, position } = side;
        const axes = [position?.longitude.column, position?.latitude.column];
        return draft.columns
            .filter((one) => one.alias === alias && !axes.includes(one.column))
            .filter(
                ({ column }) =>
                    !/^meta\.(id|record)/i.test(side.columns.find(({ name }) => name === column)?.ucd ?? ''),
            )
            .map(({ column }) => summarizeColumn(side, column));
    });
    return { ...draft, result: 'groups', columns, order: [] };
}
