/** The messages between the page and a table's worker. */

import type { ColumnPlan } from '../expression/computedColumn';
import type { Field, Filter, Page, Sort, Table, TextRequest } from '../model/resultModel';

/** Where the rows come from. */
export interface LoadRequest {
    /** Authorization header; '' for none */
    readonly authorization: string;
    /** /tap/sync: for the query, or to read a file that the page cannot */
    readonly sync: string;
    readonly from:
        | { readonly form: readonly [string, string][]; readonly files: Readonly<Record<string, Blob>> }
        /** address of a stored result */
        | { readonly url: string }
        | { readonly file: Blob };
}

/** Why there is no result, or only a part of it. */
export type Failure =
    | { readonly reason: 'refused'; readonly status: number; readonly body: string }
    | { readonly reason: 'no answer' | 'broken off' | 'memory' | 'stopped' | 'no table' }
    | { readonly reason: 'service'; readonly message: string }
    | { readonly reason: 'unreadable'; readonly what: string };

export interface Progress {
    readonly rows: number;
    readonly shown: number;
    readonly version: number;
    /** bytes received, after decompression */
    readonly bytes: number;
}

/** Reports that the worker sends unasked. */
export type WorkerNews =
    | { readonly news: 'fields'; readonly fields: readonly Field[]; readonly about: string; readonly asUpload: boolean }
    /** `firstPage`: the first columns of the first rows, before the page asks, for the worker is busy then */
    | ({ readonly news: 'rows'; readonly firstPage?: Page } & Progress)
    | { readonly news: 'complete'; readonly overflow?: string | undefined }
    | { readonly news: 'failed'; readonly failure: Failure };

type Reply<Name extends keyof Table> = Table[Name] extends (...rest: never[]) => Promise<infer Value> ? Value : never;

/** Requests of the page. */
export interface WorkerCalls {
    readPage(from: number, to: number, columns?: readonly number[]): Reply<'readPage'>;
    readNumbers(column: number): Reply<'readNumbers'>;
    readOrder(): Reply<'readOrder'>;
    summarizeColumn(column: number): Reply<'summarizeColumn'>;
    arrange(sorting: readonly Sort[], filters: readonly Filter[]): Progress;
    /** Also sorts and filters again: the columns of both may have moved. */
    computeColumns(
        plans: readonly ColumnPlan[],
        sorting: readonly Sort[],
        filters: readonly Filter[],
    ): Progress & { readonly fields: readonly Field[] };
    previewColumn(plan: ColumnPlan): Reply<'previewColumn'>;
    countFacets(columns: readonly number[]): Reply<'countFacets'>;
    readRows(rows: Uint32Array, columns: readonly number[]): Reply<'readRows'>;
    writeText(what: TextRequest, chosen: Uint8Array | undefined): Blob;
    stop(): undefined;
}

export type Question = {
    [Name in keyof WorkerCalls]: {
        readonly id: number;
        readonly call: Name;
        readonly with: Parameters<WorkerCalls[Name]>;
    };
}[keyof WorkerCalls];

export type ToWorker = { readonly open: LoadRequest } | Question;
export type FromWorker =
    | WorkerNews
    | { readonly id: number; readonly value: ReturnType<WorkerCalls[keyof WorkerCalls]> }
    | { readonly id: number; readonly failed: string };
