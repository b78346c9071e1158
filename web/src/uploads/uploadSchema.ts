/** The user's files as tables of a schema: TAP_UPLOAD.name. */

import { quoteName } from '../adql/adqlNames';
import { UPLOAD_SCHEMA } from '../adql/queryUploads';
import { pageAddress } from '../browser/router.svelte';
import type { Field } from '../model/resultModel';
import type { Column, Schema } from '../tap/vosiTables';
import { text } from '../text';
import { files, type UserFile } from './userFiles.svelte';

const TABLE = new RegExp(`^${UPLOAD_SCHEMA}\\.`, 'i');

/** Return the schema of the files that can be queried; none without files. */
export function uploadSchemas(): Schema[] {
    if (files.ready.length === 0) return [];
    const tables = files.ready.map(({ name, filename }) => ({
        name: `${UPLOAD_SCHEMA}.${name}`,
        description: filename,
    }));
    return [{ name: UPLOAD_SCHEMA, description: text.uploads.schema, tables }];
}

/** Whether ADQL's name of a table is the name of an upload. */
export const isUpload = (table: string): boolean => TABLE.test(table);

/** Return the file of a table; undefined for tables of the service, and if the file is gone. */
export function fileOfTable(table: string): UserFile | undefined {
    return isUpload(table) ? files.findFile(table.replace(TABLE, '')) : undefined;
}

export const columnsOfFile = ({ head }: UserFile): Column[] => head?.fields.map(columnOf) ?? [];

/** Return the address of a table's page, which for a file is the page of uploads. */
export function addressOfTable(table: string): string {
    const file = fileOfTable(table);
    return file ? pageAddress('uploads', '', { file: file.name }) : pageAddress('tables', table);
}

function columnOf({ name, description = '', unit = '', ucd = '', utype = '', ...type }: Field): Column {
    const { datatype, arraysize = '', xtype = '' } = type;
    const known = { name: quoteName(name), description, unit, ucd, utype, datatype, arraysize, xtype };
    return { ...known, indexed: false, primary: false, nullable: true };
}
