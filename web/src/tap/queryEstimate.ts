/** What a query will read and how long it will work, or what is wrong with it: asked while it is typed. */

import { askService, queryBody, TapError } from './tapRequest';

export type WorkClass = 'short' | 'long' | 'very long';

/** What the service foresees of a query. */
export interface Estimate {
    /** rows that the engine will read; null where nothing can be foreseen */
    readonly rows: number | null;
    readonly bytes: number | null;
    readonly seconds: number | null;
    readonly workClass: WorkClass | null;
    /** steps in words, each above those that it gets its rows from */
    readonly plan: readonly string[];
    /** what the row limit will do to the result */
    readonly result: ResultEstimate;
    /** row limits: without MAXREC, and of any request */
    readonly maxrec: { readonly default: number; readonly hard: number };
    /** how long a query at /sync may work */
    readonly syncSeconds: number;
}

/** The rows of a result, and what the row limit will cut of them. */
export interface ResultEstimate {
    /** without a row limit; null where nobody knows */
    readonly rows: number | null;
    readonly precision: 'exact' | 'about' | 'at most' | null;
    /** the row limit that applies */
    readonly limit: number;
    /** sky: rows come by their place in the sky; asked: the query has an ORDER BY */
    readonly order: 'sky' | 'asked' | '';
    /** what is foreseen to be cut, in words; '' if nothing is */
    readonly warning: string;
    /** makes the query one of a sample of the table that the limit does not cut */
    readonly sample: Fix | null;
}

/** A replacement in the query: places from 0, in Unicode code points, the end exclusive. */
export interface Fix {
    readonly start: number;
    readonly end: number;
    readonly text: string;
}

/** A fault of the query. Lines and columns from 1, in Unicode code points, the end exclusive. */
export interface QueryFault {
    readonly message: string;
    readonly hint?: string;
    /** replacements that together do what the hint says, in the order of the text, apart from each other */
    readonly fixes?: readonly Fix[];
    readonly line?: number;
    readonly column?: number;
    readonly endLine?: number;
    readonly endColumn?: number;
}

export interface EstimateRequest {
    readonly query: string;
    readonly maxrec?: number | undefined;
    /** tables that the query calls TAP_UPLOAD.name */
    readonly files?: Record<string, Blob>;
}

export type EstimateAnswer = { readonly estimate: Estimate } | { readonly faults: readonly QueryFault[] };

/** What the service foresees, or the query's faults. Raises TapError if it does neither, AbortError if aborted. */
export async function estimateQuery(asked: EstimateRequest, signal?: AbortSignal): Promise<EstimateAnswer> {
    try {
        const body = queryBody({ QUERY: asked.query, MAXREC: asked.maxrec }, asked.files);
        const answer = await askService('estimate', { method: 'POST', body, signal: signal ?? null });
        return { estimate: (await answer.json()) as Estimate };
    } catch (error) {
        const faults = error instanceof TapError && error.status === 400 ? faultsOf(error) : [];
        if (faults.length === 0) throw error;
        return { faults };
    }
}

/** The faults in the JSON of the answer; else its text with its place, if it tells one. */
export function faultsOf({ message, place }: TapError): QueryFault[] {
    try {
        return (JSON.parse(message) as { errors: QueryFault[] }).errors;
    } catch {
        return place ? [{ message, ...place }] : [];
    }
}
