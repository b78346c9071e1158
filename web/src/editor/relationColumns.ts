/** The columns of the relations in scope, from the catalogue, through aliases, WITH tables and derived tables. */

import { parts, unquoted } from '../adql/identifiers';
import type { Column, Schema } from '../tap/vosiTables';
import { same } from '../adql/adqlTokens';
import type { Output, Relation } from '../adql/queryScope';

export interface Tables {
    readonly schemas: readonly Schema[];
    columns(table: string): Promise<readonly Column[]>;
}

/** A column as it is completed: its plain name, and what is known of it. */
export interface Known {
    readonly name: string;
    readonly column?: Column;
}

const DEPTH = 12;

/** The columns of a relation, those that are known. Raises what the catalogue raises. */
export async function columnsOf(relation: Relation, tables: Tables, depth = 0): Promise<readonly Known[]> {
    if (depth > DEPTH) return [];
    if (relation.outputs) {
        const known = await Promise.all(relation.outputs.map((output) => outputColumns(output, tables, depth)));
        return known.flat();
    }
    const table = relation.table === undefined ? undefined : tableNamed(relation.table, tables.schemas);
    if (table === undefined) return [];
    return (await tables.columns(table)).map((column) => ({ name: unquoted(column.name), column }));
}

async function outputColumns(output: Output, tables: Tables, depth: number): Promise<readonly Known[]> {
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
        const found = columns.find(({ name }) => same(name, output.column ?? output.name));
        if (found) return found.column;
    }
    return undefined;
}

/** The full name of a table of the catalogue; its schema may be left out where the name is unique. */
export function tableNamed(written: string, schemas: readonly Schema[]): string | undefined {
    const names = schemas.flatMap((schema) => schema.tables.map((table) => table.name));
    const asked = parts(written);
    const found = names.filter((name) => isWritten(asked, parts(name).slice(-asked.length)));
    return found.find((name) => parts(name).length === asked.length) ?? (found.length === 1 ? found[0] : undefined);
}

/** Names in double quotes are compared exactly, others without case. */
function isWritten(asked: readonly string[], name: readonly string[]): boolean {
    if (asked.length !== name.length) return false;
    return asked.every((part, index) => {
        const [one, other] = [unquoted(part), unquoted(name[index]!)];
        return part.startsWith('"') ? one === other : same(one, other);
    });
}
