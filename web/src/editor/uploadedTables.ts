/** The tables that a query may read: the service's, and the user's files as TAP_UPLOAD.name. */

import type { Column } from '../tap/vosiTables';
import { catalogue } from '../tap/tableCatalogue.svelte';
import { loadTableKeys } from '../tap/tableKeys';
import { columnsOfFile, fileOfTable, uploadSchemas } from '../uploads/uploadSchema';
import type { Tables } from './relationColumns';

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
