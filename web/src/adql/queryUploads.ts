/** The uploads that a query names: TAP_UPLOAD.name. Requests, shares and scripts have no others. */

import { equalIgnoringCase } from './adqlTokens';
import { tablesOf } from './queryScope';

export const UPLOAD_SCHEMA = 'TAP_UPLOAD';

/** Return the names of the uploaded tables that a query reads, each once. */
export function uploadsOf(adql: string): string[] {
    if (!adql.toUpperCase().includes(UPLOAD_SCHEMA)) return [];
    const named = tablesOf(adql).filter(([schema, , ...more]) => isUploadSchema(schema) && more.length === 0);
    const names = named.flatMap(([, name]) => name ?? []);
    return names.filter((name, at) => names.findIndex((other) => equalIgnoringCase(other, name)) === at);
}

/** Return the files that the query reads, by the names of their tables: the service needs no schema for them. */
export function namedUploads<File>(adql: string, files: Readonly<Record<string, File>>): Record<string, File> {
    if (Object.keys(files).length === 0) return {};
    const tables = tablesOf(adql).filter((table) => table.length === 1 || isUploadSchema(table.at(-2)));
    const isNamed = (name: string) => tables.some((table) => equalIgnoringCase(table.at(-1)!, name));
    return Object.fromEntries(Object.entries(files).filter(([name]) => isNamed(name)));
}

const isUploadSchema = (name: string | undefined): boolean =>
    name !== undefined && equalIgnoringCase(name, UPLOAD_SCHEMA);
