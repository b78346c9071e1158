/** Schemas, tables and columns of VOSI documents. */

import { childText, findElements } from './tapRequest';

export interface Column {
    /** as ADQL writes it, quoted where needed */
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
    /** principal column; known from TAP_SCHEMA */
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
    /** only for the user's tables, in the list of tables */
    readonly columns?: readonly Column[];
}

export interface Schema {
    readonly name: string;
    readonly description: string;
    readonly tables: readonly TableEntry[];
}

/** A table as described by /tables/{name}. */
export interface TableDescription extends TableEntry {
    readonly columns: readonly Column[];
    readonly keys: readonly ForeignKey[];
    /** ISO 8601 expiry of an unused user table; '' if it never expires */
    readonly expires: string;
}

/** Read the schemas of a tableset. */
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

/** Read the table of a /tables/{name} document. */
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
