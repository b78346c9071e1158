/** The number of rows of a file. */

import { parseRows } from '../tap/jsonRows';
import { queryJson } from './uploadRequest';
import { files, type UserFile } from './userFiles.svelte';

/** Return the user's file with these bytes; undefined for rows of a result. */
export const fileOfBlob = (blob: Blob): UserFile | undefined => files.list.find((file) => file.blob === blob);

/** Count the rows of an upload; the service reads a file that the page has not seen. Raises TapError. */
export async function countRows(name: string, blob: Blob, signal: AbortSignal): Promise<number> {
    const head = fileOfBlob(blob)?.head;
    if (head) return head.count;
    const query = `SELECT COUNT(*) AS n FROM TAP_UPLOAD.${name}`;
    return Number(parseRows(await queryJson(query, { [name]: blob }, { signal })).data[0]?.[0]);
}
