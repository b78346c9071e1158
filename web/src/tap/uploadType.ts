/** Files as the service is to take them: most tell by their first bytes what they are, tables of tabs do not. */

import { TapError } from './tapRequest';
import { text } from '../text';

const TABS = 'text/tab-separated-values';
/** the first line of a table is within so many bytes, or it is none with tabs */
const LOOKED_AT = 65_536;

/** The file with the type by which the service knows its format. What the system thinks of its name is not asked. */
export async function withUploadType(file: File): Promise<Blob> {
    const kind = (await hasTabs(file)) ? TABS : 'application/octet-stream';
    return new Blob([file], { type: kind });
}

/** Whether it is a text whose first line has tabs and no comma; packed ones by their names. */
async function hasTabs(file: File): Promise<boolean> {
    if (/\.(tsv|tab)\.gz$/i.test(file.name)) return true;
    const start = await file
        .slice(0, LOOKED_AT)
        .text()
        .catch(() => '');
    const line = (/^.*/.exec(start.replace(/^\uFEFF/, '')) ?? [''])[0];
    return /\t/.test(line) && !/[,\0\uFFFD]/.test(line) && !line.startsWith('<');
}

/** Why a file could not be read, in a sentence: the service's own, or that the file is not there any more. */
export async function describeReadError(error: Error, file: { filename: string; blob: Blob }): Promise<string> {
    if (error instanceof TapError && error.status > 0) return text.uploads.unreadable(withoutTable(error.message));
    // requests also fail when the file was changed or moved since it was chosen
    const there = await file.blob
        .slice(0, 1)
        .arrayBuffer()
        .then(Boolean, () => false);
    return there ? error.message : text.uploads.gone;
}

/** The service's message without the name that the page gave the table. */
const withoutTable = (message: string): string =>
    message.replace(/^table \w+: /, '').replace(/^the file[:,] (line)?/, '$1');
