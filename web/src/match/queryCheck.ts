/** Checks a query before it runs; for large files it sends only the columns. */

import { estimateQuery, type Estimate } from '../tap/estimateClient';
import { TapError } from '../tap/tapRequest';
import type { Field } from '../model/resultModel';
import { emptyVotable } from '../model/votableText';

export type QueryCheck =
    | { readonly phase: 'none' }
    | { readonly phase: 'checking' }
    /** `estimate`: unless only the columns of an upload were sent */
    | { readonly phase: 'good'; readonly estimate?: Estimate }
    /** the service rejects the query */
    | { readonly phase: 'wrong'; readonly message: string }
    /** the service could not be asked */
    | { readonly phase: 'unknown'; readonly message: string };

/** Larger files are replaced by their columns. */
const MAX_WHOLE_FILE = 1e6;

/** A table that the query uploads: a file, or what is known of a file that is not written yet. */
export interface CheckedUpload {
    readonly name: string;
    readonly fields?: readonly Field[] | undefined;
    readonly blob?: Blob | undefined;
}

/** Check a query that uses these uploads. Never raises. */
export async function checkQuery(
    query: string,
    used: readonly CheckedUpload[],
    signal: AbortSignal,
): Promise<QueryCheck> {
    const isEmptied = ({ fields, blob }: CheckedUpload) => fields && (!blob || blob.size > MAX_WHOLE_FILE);
    const files = Object.fromEntries(
        used.flatMap((upload) => {
            const sent = isEmptied(upload) ? emptyVotable(upload.fields!) : upload.blob;
            return sent ? [[upload.name, sent] as const] : [];
        }),
    );
    try {
        const answer = await estimateQuery({ query, files }, signal);
        if (!('errors' in answer))
            return used.some(isEmptied) ? { phase: 'good' } : { phase: 'good', estimate: answer.estimate };
        return {
            phase: 'wrong',
            message: answer.errors.map(({ message, hint }) => [message, hint].filter(Boolean).join('; ')).join('\n'),
        };
    } catch (error) {
        const isError = error instanceof TapError && error.status === 400;
        return { phase: isError ? 'wrong' : 'unknown', message: (error as Error).message };
    }
}
