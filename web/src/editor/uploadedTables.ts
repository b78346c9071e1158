/** The user's files as tables of a query: TAP_UPLOAD.name. */

import type { Field } from '../model/resultModel';
import type { Column } from '../tap/vosiTables';
import { fileOf } from '../match/candidateColumns';
import { catalogue } from '../tap/tableCatalogue.svelte';
import { loadTableKeys } from '../tap/tableKeys';
import { text } from '../text';
import { files } from '../uploads/userFiles.svelte';
import type { Tables } from './relationColumns';
import { isName, nameOf, splitTokens } from '../adql/adqlTokens';
import { quoteName } from '../adql/adqlNames';

const SCHEMA = 'TAP_UPLOAD';

/** Return the names of the uploaded tables that a query reads, each once. */
export function uploadsOf(adql: string): string[] {
    if (!adql.toUpperCase().includes(SCHEMA)) return [];
    const tokens = splitTokens(adql);
    const names = tokens.flatMap((token, at) => {
        const name = tokens[at + 2];
        const uploaded = token.text.toUpperCase() === SCHEMA && tokens[at + 1]?.text === '.';
        return uploaded && isName(name) ? [nameOf(name)] : [];
    });
    return [...new Set(names)];
}

/** The tables of the service and the user's files. */
export const allTables: Tables = {
    get schemas() {
        if (files.ready.length === 0) return catalogue.schemas;
        const tables = files.ready.map(({ name, filename }) => ({ name: `${SCHEMA}.${name}`, description: filename }));
        return [...catalogue.schemas, { name: SCHEMA, description: text.editor.uploads, tables }];
    },
    async columns(table: string): Promise<readonly Column[]> {
        if (!table.startsWith(`${SCHEMA}.`)) return catalogue.loadColumns(table);
        return (files.findFile(table.slice(SCHEMA.length + 1))?.head?.fields ?? []).map(columnOf);
    },
    keys: loadTableKeys,
    position: (table) => fileOf(table)?.position,
};

function columnOf({ name, description = '', unit = '', ucd = '', utype = '', ...type }: Field): Column {
    const { datatype, arraysize = '', xtype = '' } = type;
    const known = { name: quoteName(name), description, unit, ucd, utype, datatype, arraysize, xtype };
    return { ...known, indexed: false, primary: false, nullable: true };
}
