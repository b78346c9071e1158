/** The columns of a stored table or of one of the user's files. */

import { unquoteName } from '../adql/adqlNames';
import { kindOf } from '../model/fieldKind';
import { catalogue } from '../tap/tableCatalogue.svelte';
import type { CandidateColumn } from '../uploads/positionGuess';
import { files, type UserFile } from '../uploads/userFiles.svelte';

const UPLOAD = /^TAP_UPLOAD\./i;

/** Whether ADQL's name of a table is that of an upload. */
export const isUpload = (table: string): boolean => UPLOAD.test(table);

/** Return the user's file that a query calls `table`; undefined for stored tables, and if it is gone. */
export const fileOf = (table: string): UserFile | undefined =>
    isUpload(table) ? files.findFile(table.replace(UPLOAD, '')) : undefined;

/** Load the columns of a table, with plain names. Raises TapError. */
export async function loadCandidates(table: string): Promise<readonly CandidateColumn[]> {
    if (isUpload(table)) {
        await files.restored;
        return fileOf(table)?.columns ?? [];
    }
    const columns = await catalogue.loadColumns(table);
    return columns.map(({ name, datatype, arraysize, xtype, unit, ucd, description }) => ({
        name: unquoteName(name),
        kind: kindOf(datatype, arraysize, xtype),
        unit,
        ucd,
        description,
    }));
}
