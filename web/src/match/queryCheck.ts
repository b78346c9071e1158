/** Checks a query before it runs; for large files it sends only the columns. */

import { estimateQuery } from '../tap/estimateClient';
import { TapError } from '../tap/tapRequest';
import type { UserFile } from '../uploads/userFiles.svelte';
import { emptyVotable } from '../model/votableText';

export type QueryCheck =
    | { readonly phase: 'none' }
    | { readonly phase: 'checking' }
    | { readonly phase: 'good' }
    /** the service rejects the query */
    | { readonly phase: 'wrong'; readonly message: string }
    /** the service could not be asked */
    | { readonly phase: 'unknown'; readonly message: string };

/** Larger files are replaced by their columns. */
const MAX_WHOLE_FILE = 1e6;

/** Check a query that uses these files. Never raises. */
export async function checkQuery(query: string, used: readonly UserFile[], signal: AbortSignal): Promise<QueryCheck> {
    const files = Object.fromEntries(
        used.map((file) => [
            file.name,
            file.blob.size > MAX_WHOLE_FILE && file.head ? emptyVotable(file.head.fields) : file.blob,
        ]),
    );
    try {
        const answer = await estimateQuery({ query, files }, signal);
        if (!('faults' in answer)) return { phase: 'good' };
        return {
            phase: 'wrong',
            message: answer.faults.map(({ message, hint }) => [message, hint].filter(Boolean).join('; ')).join('\n'),
        };
    } catch (error) {
        const isFault = error instanceof TapError && error.status === 400;
        return { phase: isFault ? 'wrong' : 'unknown', message: (error as Error).message };
    }
}
