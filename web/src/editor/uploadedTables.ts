/** The user's files as tables of a query: TAP_UPLOAD.name. */

import type { Column } from '../tap/vosiTables';
import { catalogue } from '../tap/tableCatalogue.svelte';
import { loadTableKeys } from '../tap/tableKeys';
import { columnsOfFile, fileOfTable, UPLOAD_SCHEMA, uploadSchemas } from '../uploads/uploadSchema';
import type { Tables } from './relationColumns';
import { isName, nameOf, splitTokens } from '../adql/adqlTokens';

/** Return the names of the uploaded tables that a query reads, each once. */
export function uploadsOf(adql: string): string[] {
    if (!adql.toUpperCase().includes(UPLOAD_SCHEMA)) return [];
    const tokens = splitTokens(adql);
    const names = tokens.flatMap((token, at) => {
        const name = tokens[at + 2];
        const uploaded = token.text.toUpperCase() === UPLOAD_SCHEMA && tokens[at + 1]?.text === '.';
        return uploaded && isName(name) ? [nameOf(name)] : [];
    });
    return [...new Set(names)];
}

/** The tables of the service and the user's files. */
export const allTables: Tables = {
    get schemas() {
        return [...catalogue.schemas, ...uploadSchemas()];
    },
    async columns(table: string): Promise<readonly Column[]> {
        const file = fileOfTable(table);
        return file ? columnsOfFile(file) : catalogue.loadColumns(table);
    },
    keys: loadTableKeys,
    position: (table) => fileOfTable(table)?.position,
};
