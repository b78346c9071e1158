/** A result as the page sees it: its fields, and a table in a worker that answers requests. */

/** A column with its VOTable metadata. */
export interface Field {
    readonly name: string;
    readonly datatype: string;
    readonly arraysize?: string;
    readonly xtype?: string;
    readonly unit?: string;
    readonly ucd?: string;
    readonly utype?: string;
    readonly description?: string;
    /** the page computes it: its expression over the other columns */
    readonly expression?: string;
    /** how it is shown, sorted and plotted; `time` are instants (readNumbers() returns MJD) */
    readonly kind: 'number' | 'text' | 'boolean' | 'time' | 'array';
}

/** A value as the table shows it: NULL is null, arrays are text, 64-bit integers are bigint. */
export type Cell = number | bigint | string | boolean | null;

export type State =
    | { readonly phase: 'loading' }
    /** `overflow`: the service's message that the row limit cut it */
    | { readonly phase: 'complete'; readonly overflow?: string }
    | { readonly phase: 'failed'; readonly message: string };

export interface Sort {
    readonly column: number;
    readonly descending: boolean;
}

/**
 * A condition on a column: a range of numbers or instants, a part of the text, or some values (as text, null for NULL and NaN);
 * or that a row is one of some. All conditions must hold. NULL meets none but those that name it, and `noneOf`.
 */
export type Filter =
    | { readonly column: number; readonly min?: number; readonly max?: number }
    | { readonly column: number; readonly contains: string }
    | { readonly column: number; readonly oneOf: readonly (string | null)[] }
    | { readonly column: number; readonly noneOf: readonly (string | null)[] }
    /** `column` is -1; one byte per row */
    | { readonly column: -1; readonly rows: Uint8Array; readonly title: string };

/** A column that the page computes. */
export interface ComputedColumn {
    readonly name: string;
    readonly expression: string;
    /** VOUnit of the result; default: as the expression gives it */
    readonly unit?: string;
    /** the numbers are already in `unit`: they are not converted */
    readonly isDeclared?: boolean;
}

/** The values of a column, and how many rows each has among those that pass the filters of the other columns. */
export type Facet =
    /** most frequent in the whole result first */
    | { readonly type: 'values'; readonly values: readonly FacetValue[] }
    /** numbers and instants: bins of equal width */
    | {
          readonly type: 'bins';
          readonly min: number;
          readonly max: number;
          /** rows in each bin: of all, and of those that pass */
          readonly all: readonly number[];
          readonly passing: readonly number[];
          /** passing rows without a value */
          readonly missing: number;
      }
    /** more different texts than can be listed, or no value at all */
    | { readonly type: 'many' | 'none' };

export interface FacetValue {
    /** null: NULL or NaN */
    readonly value: string | null;
    readonly all: number;
    readonly passing: number;
}

/** A request for rows as text. */
export interface TextRequest {
    readonly format: 'csv' | 'tsv' | 'votable';
    /** shown rows; chosen rows (in the order shown, hidden ones last); or the indexes [from, to) */
    readonly rows: 'shown' | 'chosen' | { readonly from: number; readonly to: number };
    /** default: all */
    readonly columns?: readonly number[];
    /** without the header line */
    readonly bare?: boolean;
    /** VOTable: name of a further column with the number of each row, from 0 */
    readonly numbered?: string;
}

/** The parts of a result's panel; both: table and plot side by side. */
export type View = 'both' | 'table' | 'plot' | 'columns';

/** A share that is shown: its permanent link, and the link of its stored rows. */
export interface SharedSource {
    readonly address: string;
    readonly rows: string;
}

/** Where a result comes from. */
export type Source =
    /** a query at /tap/sync with a row limit and uploads; a share's rows are read from where they are stored */
    | {
          readonly kind: 'sync';
          readonly query: string;
          readonly maxrec?: number;
          readonly files?: Record<string, Blob>;
          readonly share?: SharedSource;
          /** a query of the page itself, which the user's history leaves out */
          readonly isUnasked?: boolean;
      }
    /** the stored result of a job, with its uploads if they are known */
    | { readonly kind: 'job'; readonly id: string; readonly files?: Record<string, Blob> }
    /** a file that is already here (from SAMP, or dropped); it goes through /tap/sync as an upload if needed */
    | { readonly kind: 'file'; readonly file: Blob; readonly name: string };

/** Values at successive indexes, and their rows. */
export interface Page {
    readonly rows: Uint32Array<ArrayBuffer>;
    readonly cells: Cell[][];
}

/**
 * A result's table; `WorkerTable` implements it. `row` counts rows from 0 as they arrived, `index` as they are shown,
 * sorted and filtered. Its fields are reactive.
 */
export interface Table {
    readonly fields: readonly Field[];
    readonly state: State;
    /** the VOTable without rows that describes the result */
    readonly about?: string;
    /** the service has read it as an upload: the order of rows may differ */
    readonly asUpload?: boolean;
    /** rows that have arrived */
    readonly rows: number;
    /** rows that pass the filters */
    readonly shown: number;
    /** grows whenever the order or the set of shown rows changes: what is drawn is stale then */
    readonly version: number;
    readonly sorting: readonly Sort[];
    readonly filters: readonly Filter[];
    /** one byte per row, 1 if chosen; undefined if none is */
    readonly chosen: Uint8Array | undefined;
    /** number of chosen rows */
    readonly chosenCount: number;
    /** the row under the pointer, in the table or a plot; -1: none */
    hovered: number;

    /**
     * Return the values at the indexes [from, to) and their rows: `cells[index - from][k]` is the k-th requested column.
     * Default: all columns.
     */
    readPage(from: number, to: number, columns?: readonly number[]): Promise<Page>;
    /** Return a column as numbers, one per row, NaN for NULL; cached. Booleans are 0 and 1, instants MJD. */
    readNumbers(column: number): Promise<Float64Array<ArrayBuffer>>;
    /** Return the rows in the order shown. */
    readOrder(): Promise<Uint32Array<ArrayBuffer>>;
    /** Return minimum, maximum and mean of the finite values of all rows, and the number of NULL and NaN. */
    summarizeColumn(column: number): Promise<{ min: number; max: number; mean: number; missing: number }>;
    sortBy(by: readonly Sort[]): Promise<void>;
    filterBy(by: readonly Filter[]): Promise<void>;
    /** The columns that the page computes: the last ones of `fields`. */
    readonly computed: readonly ComputedColumn[];
    /** Replace the computed columns. Raises ExpressionError or UnitError; then nothing is changed. */
    computeColumns(columns: readonly ComputedColumn[]): Promise<void>;
    /** Return the first shown values of a computed column, without adding it. Raises as `computeColumns`. */
    previewColumn(column: ComputedColumn): Promise<Cell[]>;
    /** Count the values of columns, each among the rows that pass the filters of the others. */
    countFacets(columns: readonly number[]): Promise<Facet[]>;
    /** Return values of rows, whether they are shown or not. */
    readRows(rows: Uint32Array, columns: readonly number[]): Promise<Cell[][]>;
    /** `rows`: one byte per row; undefined: choose none */
    chooseRows(rows: Uint8Array | undefined): void;
    /** Return rows as text with a header line, for a file or the clipboard. */
    writeText(what: TextRequest): Promise<Blob>;
    /** Stop loading; rows that have arrived stay. */
    stop(): void;
    /** Free the worker's memory. */
    close(): void;
}
