/** The first rows of a running job: a small VOTable in TABLEDATA. */

import { jobPath } from './uwsClient';
import { fetchDocument, findElements, TapError } from './tapRequest';

export interface JobPreview {
    readonly fields: readonly { readonly name: string; readonly unit: string; readonly isNumber: boolean }[];
    /** as in the document; '' for NULL */
    readonly rows: readonly (readonly string[])[];
}

const TEXTS = ['char', 'unicodeChar', 'boolean'];

/** Load the first rows; undefined if there are none yet. Raises TapError. */
export async function loadPreview(id: string): Promise<JobPreview | undefined> {
    try {
        return previewOf(await fetchDocument(`${jobPath(id)}/preview`));
    } catch (error) {
        // 404: no rows yet, unless the job is missing
        if (error instanceof TapError && error.status === 404 && !/there is no job/.test(error.message))
            return undefined;
        throw error;
    }
}

/** Read the fields and rows of a VOTable in TABLEDATA. */
export function previewOf(table: Document): JobPreview {
    const fields = findElements(table, 'FIELD').map((field) => ({
        name: field.getAttribute('name') ?? '',
        unit: field.getAttribute('unit') ?? '',
        isNumber: !TEXTS.includes(field.getAttribute('datatype') ?? '') && !field.hasAttribute('arraysize'),
    }));
    const rows = findElements(table, 'TR').map((row) => findElements(row, 'TD').map((cell) => cell.textContent));
    return { fields, rows };
}
