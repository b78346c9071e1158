/** Small results for the page itself, as JSON. Users' results go through the worker. */

import { askService, queryBody, TapError, UNASKED } from './tapRequest';
import { text } from '../text';

export type Value = number | string | boolean | null | bigint | Value[];

/** A column of a small result; texts are '' where the service gives none. */
export interface RowsColumn {
    readonly name: string;
    readonly datatype: string;
    readonly unit: string;
    readonly ucd: string;
    readonly description: string;
}

export interface Rows {
    readonly names: readonly string[];
    readonly columns: readonly RowsColumn[];
    readonly data: readonly (readonly Value[])[];
    /** cut by the row limit */
    readonly overflow: boolean;
    /** name of the service */
    readonly service: string;
}

interface Answer {
    metadata?: { service?: string };
    columns: (Partial<RowsColumn> & { name: string })[];
    data: Value[][];
    status?: { value: string };
}

/** Run a query of the page itself at /sync. Raises TapError. */
export async function queryRows(query: string, options: { maxrec?: number; signal?: AbortSignal } = {}): Promise<Rows> {
    const body = queryBody({ ...UNASKED, FORMAT: 'json', MAXREC: options.maxrec, QUERY: query });
    const answer = await askService('sync', { method: 'POST', body, signal: options.signal ?? null });
    return parseRows(await answer.text());
}

/** Parse a JSON result with exact integers beyond 2^53. Raises TapError if it is incomplete. */
export function parseRows(json: string): Rows {
    let answer: Answer;
    try {
        answer = JSON.parse(json, /\d{16}/.test(json) ? keepExactIntegers : undefined) as Answer;
    } catch {
        throw new TapError(text.common.noAnswer, 0);
    }
    return {
        names: answer.columns.map((column) => column.name),
        columns: answer.columns.map((column) => ({ datatype: '', unit: '', ucd: '', description: '', ...column })),
        data: answer.data,
        overflow: answer.status?.value === 'OVERFLOW',
        service: answer.metadata?.service ?? '',
    };
}

/** Without `context.source`, older browsers keep the rounded number. */
function keepExactIntegers(_key: string, value: unknown, context?: { source?: string }): unknown {
    const rounded = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
    return rounded && /^-?\d+$/.test(context?.source ?? '') ? BigInt(context!.source!) : value;
}

/** Return a cell as a number: NaN for NULL and texts; infinities are kept. */
export function toNumber(value: Value | undefined): number {
    return value === null || value === undefined || value === '' || Array.isArray(value) ? NaN : Number(value);
}
