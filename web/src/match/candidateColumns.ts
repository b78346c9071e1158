/** The columns of a stored table or of one of the user's files. */

import { unquoteName } from '../adql/adqlNames';
import { kindOf } from '../model/fieldKind';
import { catalogue } from '../tap/tableCatalogue.svelte';
import type { CandidateColumn } from '../uploads/positionGuess';
import { fileOfTable, isUpload } from '../uploads/uploadSchema';
import { files } from '../uploads/userFiles.svelte';

/** Load the columns of a table, with plain names. Raises TapError. */
export async function loadCandidates(table: string): Promise<readonly CandidateColumn[]> {
    if (isUpload(table)) {
        await files.restored;
        return fileOfTable(table)?.columns ?? [];
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
