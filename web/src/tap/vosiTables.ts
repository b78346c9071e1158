/** What VOSI's documents say of schemas, tables and columns. */

import { childText, findElements } from './tapRequest';

export interface Column {
    /** as ADQL writes it: with double quotes where it needs them */
    readonly name: string;
    readonly description: string;
    readonly unit: string;
    readonly ucd: string;
    readonly utype: string;
    readonly datatype: string;
    readonly arraysize: string;
    readonly xtype: string;
    readonly indexed: boolean;
    /** part of the primary key */
    readonly primary: boolean;
    readonly nullable: boolean;
    /** one that a client shows first; known where TAP_SCHEMA was asked */
    readonly principal?: boolean;
}

export interface ForeignKey {
    readonly target: string;
    readonly columns: readonly { readonly from: string; readonly to: string }[];
    readonly description: string;
}

export interface TableEntry {
    /** schema.table, as ADQL writes it */
    readonly name: string;
    readonly description: string;
    /** where the list of tables has them: those of the user's own tables */
    readonly columns?: readonly Column[];
}

export interface Schema {
    readonly name: string;
    readonly description: string;
    readonly tables: readonly TableEntry[];
}

/** A table as /tables/{name} describes it. */
export interface TableDescription extends TableEntry {
    readonly columns: readonly Column[];
    readonly keys: readonly ForeignKey[];
    /** ISO 8601: when a user's own table is removed unless it is used; '' if it stays */
    readonly expires: string;
}

/** The schemas of a tableset. */
export function schemasOf(tableset: Document): Schema[] {
    return findElements(tableset, 'schema').map((schema) => ({
        name: childText(schema, 'name'),
        description: childText(schema, 'description'),
        tables: childElements(schema, 'table').map(entryOf),
    }));
}

function entryOf(table: Element): TableEntry {
    const columns = childElements(table, 'column').map(columnOf);
    const named = { name: childText(table, 'name'), description: childText(table, 'description') };
    return columns.length ? { ...named, columns } : named;
}

/** The one table of a document of /tables/{name}. */
export function tableOf(document: Document, expires = ''): TableDescription {
    const table = document.documentElement;
    return {
        name: childText(table, 'name'),
        description: childText(table, 'description'),
        columns: childElements(table, 'column').map(columnOf),
        keys: childElements(table, 'foreignKey').map(keyOf),
        expires,
    };
}

function columnOf(column: Element): Column {
    const type = childElements(column, 'dataType')[0];
    const flags = new Set(childElements(column, 'flag').map((flag) => flag.textContent?.trim()));
    return {
        name: childText(column, 'name'),
        description: childText(column, 'description'),
        unit: childText(column, 'unit'),
        ucd: childText(column, 'ucd'),
        utype: childText(column, 'utype'),
        datatype: type?.textContent?.trim() ?? '',
        arraysize: type?.getAttribute('arraysize') ?? '',
        xtype: type?.getAttribute('extendedType') ?? '',
        indexed: flags.has('indexed'),
        primary: flags.has('primary'),
        nullable: flags.has('nullable'),
    };
}

function keyOf(key: Element): ForeignKey {
    return {
        target: childText(key, 'targetTable'),
        columns: childElements(key, 'fkColumn').map((pair) => ({
            from: childText(pair, 'fromColumn'),
            to: childText(pair, 'targetColumn'),
        })),
        description: childText(key, 'description'),
    };
}

function childElements(of: Element, name: string): Element[] {
    return [...of.children].filter((child) => child.localName === name);
}
