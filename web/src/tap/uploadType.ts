/** The type of uploaded files: most formats are recognised by their first bytes, tab-separated text is not. */

import { TapError } from './tapRequest';
import { text } from '../text';

const TABS = 'text/tab-separated-values';
/** Bytes that must contain the first line of tab-separated text. */
const LOOKED_AT = 65_536;

/** Return the file with the media type of its format for the service. The system's guess from the name is ignored. */
export async function withUploadType(file: File): Promise<Blob> {
    const kind = (await hasTabs(file)) ? TABS : 'application/octet-stream';
    return new Blob([file], { type: kind });
}

/** Whether it is text whose first line has tabs and no comma; compressed files by name. */
async function hasTabs(file: File): Promise<boolean> {
    if (/\.(tsv|tab)\.gz$/i.test(file.name)) return true;
    const start = await file
        .slice(0, LOOKED_AT)
        .text()
        .catch(() => '');
    const line = (/^.*/.exec(start.replace(/^\uFEFF/, '')) ?? [''])[0];
    return /\t/.test(line) && !/[,\0\uFFFD]/.test(line) && !line.startsWith('<');
}

/** Explain why a file could not be read: the service's message, or that the file has gone. */
export async function describeReadError(error: Error, file: { filename: string; blob: Blob }): Promise<string> {
    if (error instanceof TapError && error.status > 0) return text.uploads.unreadable(withoutTable(error.message));
    // requests also fail if the file was changed or moved since it was chosen
    const there = await file.blob
        .slice(0, 1)
        .arrayBuffer()
        .then(Boolean, () => false);
    return there ? error.message : text.uploads.gone;
}

/** Remove the generated table name from the service's message. */
const withoutTable = (message: string): string =>
    message.replace(/^table \w+: /, '').replace(/^the file[:,] (line)?/, '$1');
