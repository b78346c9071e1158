/** The estimate of a query, or its errors, requested while it is typed. */

import { askService, queryBody, TapError } from './tapRequest';

export type WorkClass = 'short' | 'long' | 'very long';

/** The service's estimate of a query. */
export interface Estimate {
    /** rows that the engine will read; null if unknown */
    readonly rows: number | null;
    readonly bytes: number | null;
    readonly seconds: number | null;
    readonly workClass: WorkClass | null;
    /** steps of the plan, each above those that it reads from */
    readonly plan: readonly string[];
    /** effect of the row limit */
    readonly result: ResultEstimate;
    /** row limits: without MAXREC, and of any request */
    readonly maxrec: { readonly default: number; readonly hard: number };
    /** time limit of /sync */
    readonly syncSeconds: number;
    /** what the service says of the query; the result has it too */
    readonly warnings: readonly string[];
}

/** The expected rows of a result, and what the row limit will cut. */
export interface ResultEstimate {
    /** without a row limit; null if unknown */
    readonly rows: number | null;
    readonly precision: 'exact' | 'about' | 'at most' | null;
    /** the row limit that applies */
    readonly limit: number;
    /** sky: in HEALPix order; asked: by ORDER BY */
    readonly order: 'sky' | 'asked' | '';
    /** message about the expected cut; '' if none */
    readonly warning: string;
    /** fix that turns the query into a sample below the limit */
    readonly sample: Fix | null;
}

/** A replacement in the query: offsets from 0 in code points, end exclusive. */
export interface Fix {
    readonly start: number;
    readonly end: number;
    readonly text: string;
}

/** An error of the query. Lines and columns from 1, in code points, end exclusive. */
export interface QueryError {
    readonly message: string;
    readonly hint?: string;
    /** replacements that implement the hint, in text order, without overlap */
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

export type EstimateAnswer = { readonly estimate: Estimate } | { readonly errors: readonly QueryError[] };

/** Return the estimate or the errors of a query. Raises TapError otherwise, AbortError if aborted. */
export async function estimateQuery(asked: EstimateRequest, signal?: AbortSignal): Promise<EstimateAnswer> {
    try {
        const body = queryBody({ QUERY: asked.query, MAXREC: asked.maxrec }, asked.files);
        const answer = await askService('estimate', { method: 'POST', body, signal: signal ?? null });
        return { estimate: (await answer.json()) as Estimate };
    } catch (error) {
        const errors = error instanceof TapError && error.status === 400 ? errorsOf(error) : [];
        if (errors.length === 0) throw error;
        return { errors };
    }
}

/** Return the errors of a JSON response, otherwise its text with its position, if any. */
function errorsOf({ message, position }: TapError): QueryError[] {
    try {
        return (JSON.parse(message) as { errors: QueryError[] }).errors;
    } catch {
        return position ? [{ message, ...position }] : [];
    }
}
