/** Uploaded files as texts within a script. */

import { text } from '../text';

/** Larger files are not written into scripts. */
const MAX_BYTES = 5_000_000;

/** Return the files in base64, by the names of their tables. Raises an Error if they are too large together. */
export async function encodeUploads(files: Readonly<Record<string, Blob>>): Promise<Record<string, string>> {
    const size = Object.values(files).reduce((sum, file) => sum + file.size, 0);
    if (size > MAX_BYTES) throw new Error(text.results.scripts.largeUploads);
    const encoded = Object.entries(files).map(async ([name, file]) => {
        const bytes = new Uint8Array(await file.arrayBuffer());
        const words = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
        return [name, btoa(words)] as const;
    });
    return Object.fromEntries(await Promise.all(encoded));
}
