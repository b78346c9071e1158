/** What the page knows of a result: the columns, and a table that lives in a worker and is asked for what is shown. */

/** A column, with what VOTable says of it. */
export interface Field {
    readonly name: string;
    readonly datatype: string;
    readonly arraysize?: string;
    readonly xtype?: string;
    readonly unit?: string;
    readonly ucd?: string;
    readonly utype?: string;
    readonly description?: string;
    /** how it is shown, sorted and plotted; `time` are instants (numbers() gives them as MJD) */
    readonly kind: 'number' | 'text' | 'boolean' | 'time' | 'array';
}

/** A value as the table shows it: null is SQL's NULL. Arrays come as text. 64-bit integers as bigint. */
export type Cell = number | bigint | string | boolean | null;

export type State =
    | { readonly phase: 'loading' }
    /** whole; `overflow`: the row limit cut it, in the service's words */
    | { readonly phase: 'complete'; readonly overflow?: string }
    | { readonly phase: 'failed'; readonly message: string };

export interface Sort {
    readonly column: number;
    readonly descending: boolean;
}

/** One condition on a column: a range of numbers or instants, or a piece of text. All have to hold. */
export type Filter =
    | { readonly column: number; readonly min?: number; readonly max?: number }
    | { readonly column: number; readonly contains: string };

/** Rows to write as text. */
export interface TextRequest {
    readonly format: 'csv' | 'tsv';
    /** those shown, those chosen (in the order shown, also where a filter hides them, these last), or some places */
    readonly rows: 'shown' | 'chosen' | { readonly from: number; readonly to: number };
    /** all, if not given */
    readonly columns?: readonly number[];
    /** without the line of names */
    readonly bare?: boolean;
}

/** The parts of a result's panel. */
export type View = 'table' | 'plot' | 'columns';

/** Where a result comes from. */
export type Source =
    /** a query at /tap/sync, with a row limit and uploaded files */
    | { readonly kind: 'sync'; readonly query: string; readonly maxrec?: number; readonly files?: Record<string, Blob> }
    /** the stored result of a job; `format` it was asked for in */
    | { readonly kind: 'job'; readonly id: string }
    /** rows that are here already, in a file (SAMP's, dropped ones): its bytes are sent through /tap/sync as an upload */
    | { readonly kind: 'file'; readonly file: Blob; readonly name: string };

/**
 * A result's table: `ResultTable` in table.svelte.ts. Rows are counted from 0 as they came (`row`), and as they are
 * shown, sorted and filtered (`place`). Its fields are reactive.
 */
export interface Table {
    readonly fields: readonly Field[];
    readonly state: State;
    /** the service has read it as an upload: its rows may be in another order than where they come from */
    readonly asUpload?: boolean;
    /** rows that have come so far */
    readonly rows: number;
    /** rows shown: those that pass the filters */
    readonly shown: number;
    /** grows by one whenever the order or the set of rows shown changes: what is drawn is stale then */
    readonly version: number;
    readonly sorting: readonly Sort[];
    readonly filters: readonly Filter[];
    /** chosen rows, by brush or by click: one byte per row, 1 if chosen; undefined: none is chosen */
    readonly chosen: Uint8Array | undefined;
    /** how many rows are chosen */
    readonly chosenCount: number;
    /** the row under the pointer, in table or plot; -1: none */
    hovered: number;

    /** the values for the places [from, to), with the row number of each: `cells[place - from][k]` of the k-th column
     * asked for; of all columns, if none are named */
    readPage(
        from: number,
        to: number,
        columns?: readonly number[],
    ): Promise<{ rows: Uint32Array<ArrayBuffer>; cells: Cell[][] }>;
    /** a column as numbers, one per row (not place), NaN for NULL; cached. Booleans are 0 and 1, instants MJD */
    readNumbers(column: number): Promise<Float64Array<ArrayBuffer>>;
    /** the rows shown, in the order shown */
    readOrder(): Promise<Uint32Array<ArrayBuffer>>;
    /** minimum, maximum, mean of the finite values, and the count of NULL and NaN, among all rows */
    summarizeColumn(column: number): Promise<{ min: number; max: number; mean: number; missing: number }>;
    sortBy(by: readonly Sort[]): Promise<void>;
    filterBy(by: readonly Filter[]): Promise<void>;
    /** `rows`: one byte per row, or undefined to choose none */
    chooseRows(rows: Uint8Array | undefined): void;
    /** rows as text, with a line of names: as a file, or for the clipboard */
    writeText(what: TextRequest): Promise<Blob>;
    /** stop loading; what has come stays */
    stop(): void;
    /** free the worker's memory */
    close(): void;
}
