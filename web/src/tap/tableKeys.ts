/** The foreign keys between the service's tables, by which they can be joined. */

import { lastPartOf, unquoteName } from '../adql/adqlNames';
import { queryRows } from './jsonRows';
import { catalogue } from './tableCatalogue.svelte';

/** A key: rows of `from` refer to rows of `target`. Column names are unquoted. */
export interface TableKey {
    readonly from: string;
    readonly target: string;
    readonly columns: readonly { readonly from: string; readonly target: string }[];
}

let loaded: { readonly version: number; readonly keys: Promise<readonly TableKey[]> } | undefined;

/** Load all keys, cached until the tables change. Raises TapError. */
export function loadTableKeys(): Promise<readonly TableKey[]> {
    const { version } = catalogue;
    if (loaded?.version === version) return loaded.keys;
    const keys = readKeys();
    loaded = { version, keys };
    keys.catch(() => (loaded = undefined));
    return keys;
}

async function readKeys(): Promise<readonly TableKey[]> {
    const found = await queryRows(
        'SELECT k.key_id, k.from_table, c.from_column, k.target_table, c.target_column\n' +
            'FROM TAP_SCHEMA.keys AS k JOIN TAP_SCHEMA.key_columns AS c ON k.key_id = c.key_id',
    );
    const keys = new Map<string, TableKey>();
    for (const [id, from, fromColumn, target, targetColumn] of found.data.map((row) => row.map(String))) {
        const before = keys.get(id!)?.columns ?? [];
        const pair = { from: plainName(fromColumn!), target: plainName(targetColumn!) };
        keys.set(id!, { from: from!, target: target!, columns: [...before, pair] });
    }
    return [...keys.values()];
}

const plainName = (column: string): string => unquoteName(lastPartOf(column));
