/** Small results for the page's own use, as JSON. What users ask goes another way, through the worker. */

import { askService, queryBody, TapError } from './tapRequest';
import { text } from '../text';

export type Value = number | string | boolean | null | bigint | Value[];

export interface Rows {
    readonly names: readonly string[];
    readonly data: readonly (readonly Value[])[];
    /** the row limit cut it */
    readonly overflow: boolean;
    /** what the service calls itself */
    readonly service: string;
}

interface Answer {
    metadata?: { service?: string };
    columns: { name: string }[];
    data: Value[][];
    status?: { value: string };
}

/** The rows of a query at /sync. Raises TapError. */
export async function queryRows(query: string, options: { maxrec?: number; signal?: AbortSignal } = {}): Promise<Rows> {
    const body = queryBody({ FORMAT: 'json', MAXREC: options.maxrec, QUERY: query });
    const answer = await askService('sync', { method: 'POST', body, signal: options.signal ?? null });
    return parseRows(await answer.text());
}

/** A result in JSON, its integers beyond 2^53 exact. Raises TapError for one that was broken off. */
export function parseRows(json: string): Rows {
    let answer: Answer;
    try {
        answer = JSON.parse(json, /\d{16}/.test(json) ? keepExactIntegers : undefined) as Answer;
    } catch {
        throw new TapError(text.common.noAnswer, 0);
    }
    return {
        names: answer.columns.map((column) => column.name),
        data: answer.data,
        overflow: answer.status?.value === 'OVERFLOW',
        service: answer.metadata?.service ?? '',
    };
}

/** Browsers that do not tell how a number was written round it. */
function keepExactIntegers(_key: string, value: unknown, context?: { source?: string }): unknown {
    const rounded = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
    return rounded && /^-?\d+$/.test(context?.source ?? '') ? BigInt(context!.source!) : value;
}

/** A cell as a number: NaN for NULL and texts, infinities as they are. */
export function toNumber(value: Value | undefined): number {
    return value === null || value === undefined || value === '' || Array.isArray(value) ? NaN : Number(value);
}
