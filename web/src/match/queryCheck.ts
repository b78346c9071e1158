/** Whether the service can answer a query, asked before it runs: of large files only the columns are sent for that. */

import { estimate } from '../tap/queryEstimate';
import { TapError } from '../tap/tapRequest';
import type { TableFile } from '../uploads/userFiles.svelte';
import { columnsAlone } from '../uploads/emptyVotable';

export type Check =
    | { readonly phase: 'none' }
    | { readonly phase: 'checking' }
    | { readonly phase: 'good' }
    /** the service says what is wrong with the query */
    | { readonly phase: 'wrong'; readonly message: string }
    /** it could not be asked */
    | { readonly phase: 'unknown'; readonly message: string };

/** Bytes up to which a file is sent whole for a check. */
const SMALL = 1e6;

/** What the service says of a query that uses these files. Never raises. */
export async function checked(query: string, used: readonly TableFile[], signal: AbortSignal): Promise<Check> {
    const files = Object.fromEntries(
        used.map((file) => [
            file.name,
            file.blob.size > SMALL && file.head ? columnsAlone(file.head.fields) : file.blob,
        ]),
    );
    try {
        const answer = await estimate({ query, files }, signal);
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
