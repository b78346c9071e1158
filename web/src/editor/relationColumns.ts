/** The columns of the relations in scope, resolved through aliases, WITH tables and derived tables. */

import { splitName, unquoteName } from '../adql/adqlNames';
import type { TableKey } from '../tap/tableKeys';
import type { Column, Schema } from '../tap/vosiTables';
import type { Position } from '../uploads/positionGuess';
import { equalIgnoringCase } from '../adql/adqlTokens';
import type { Output, Relation } from '../adql/queryScope';

export interface Tables {
    readonly schemas: readonly Schema[];
    columns(table: string): Promise<readonly Column[]>;
    /** Load the foreign keys between them. */
    keys?(): Promise<readonly TableKey[]>;
    /** Return the position that the user has chosen for a file. */
    position?(table: string): Position | undefined;
}

/** A column to complete: its plain name and, if known, its description. */
export interface KnownColumn {
    readonly name: string;
    readonly column?: Column;
}

const MAX_DEPTH = 12;

/** Return the known columns of a relation. Raises what the catalogue raises. */
export async function columnsOf(relation: Relation, tables: Tables, depth = 0): Promise<readonly KnownColumn[]> {
    if (depth > MAX_DEPTH) return [];
    if (relation.outputs) {
        const known = await Promise.all(relation.outputs.map((output) => outputColumns(output, tables, depth)));
        return known.flat();
    }
    const table = relation.table === undefined ? undefined : findTable(relation.table, tables.schemas);
    if (table === undefined) return [];
    return (await tables.columns(table)).map((column) => ({ name: unquoteName(column.name), column }));
}

async function outputColumns(output: Output, tables: Tables, depth: number): Promise<readonly KnownColumn[]> {
    if ('all' in output) return columnsOf(output.all, tables, depth + 1);
    const column = await originOf(output, tables, depth);
    return [{ name: output.name, ...(column && { column }) }];
}

async function originOf(
    output: Exclude<Output, { all: Relation }>,
    tables: Tables,
    depth: number,
): Promise<Column | undefined> {
    for (const relation of output.from ?? []) {
        const columns = await columnsOf(relation, tables, depth + 1);
        const found = columns.find(({ name }) => equalIgnoringCase(name, output.column ?? output.name));
        if (found) return found.column;
    }
    return undefined;
}

/** Return the full name of a table of the catalogue. The schema may be missing if the name is unique. */
export function findTable(written: string, schemas: readonly Schema[]): string | undefined {
    const names = schemas.flatMap((schema) => schema.tables.map((table) => table.name));
    const asked = splitName(written);
    const found = names.filter((name) => isWritten(asked, splitName(name).slice(-asked.length)));
    return found.find((name) => splitName(name).length === asked.length) ?? (found.length === 1 ? found[0] : undefined);
}

/** Names in double quotes are compared exactly, others ignoring case. */
function isWritten(asked: readonly string[], name: readonly string[]): boolean {
    if (asked.length !== name.length) return false;
    return asked.every((part, index) => {
        const [one, other] = [unquoteName(part), unquoteName(name[index]!)];
        return part.startsWith('"') ? one === other : equalIgnoringCase(one, other);
    });
}
