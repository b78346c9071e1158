/** The tables of the service: the list at once, columns on demand. */

import { untrack } from 'svelte';
import { credentials } from './credentials.svelte';
import { askService, fetchDocument, parseXml } from './tapRequest';
import { schemasOf, tableOf, type Column, type Schema, type TableDescription, type TableEntry } from './vosiTables';
import { areSameNames } from '../adql/adqlNames';

export type { Column, ForeignKey, Schema, TableDescription, TableEntry } from './vosiTables';

class Catalogue {
    schemas = $state.raw<readonly Schema[]>([]);
    /** why the list could not be read; '' if it could */
    failed = $state('');
    /** the list has been read */
    loaded = $state(false);
    /** increases when tables may have changed: cached facts about them are stale then */
    version = $state(0);

    #loading: Promise<void> | undefined;
    #tables = new Map<string, Promise<TableDescription>>();

    constructor() {
        let asker = credentials.header;
        $effect.root(() => {
            $effect(() => {
                if (credentials.header === asker) return;
                asker = credentials.header;
                untrack(() => void this.reloadTables());
            });
        });
    }

    /** Read the list once. Never raises; `failed` holds the reason. */
    loadTables(): Promise<void> {
        this.#loading ??= this.#readTables();
        return this.#loading;
    }

    /** Read everything again: after tables were created or dropped, or for another user. */
    reloadTables(): Promise<void> {
        this.#tables.clear();
        this.#loading = undefined;
        this.version += 1;
        return this.loadTables();
    }

    async #readTables(): Promise<void> {
        const version = this.version;
        try {
            const schemas = orderSchemas(schemasOf(await fetchDocument('tables?detail=min')));
            if (version !== this.version) return;
            this.schemas = schemas;
            [this.loaded, this.failed] = [true, ''];
        } catch (error) {
            if (version !== this.version) return;
            this.#loading = undefined;
            this.failed = (error as Error).message;
        }
    }

    /** Find a table by its name as a query may write it. */
    findTable(name: string): TableEntry | undefined {
        for (const schema of this.schemas) {
            const found = schema.tables.find((table) => areSameNames(table.name, name));
            if (found) return found;
        }
        return undefined;
    }

    /** Load a table's description, cached. Raises TapError, with status 404 if it does not exist. */
    loadTable(name: string): Promise<TableDescription> {
        const kept = this.#tables.get(name);
        if (kept) return kept;
        const asked = fetchTable(name);
        this.#tables.set(name, asked);
        asked.catch(() => this.#tables.delete(name));
        return asked;
    }

    /** Load a table's columns, in its order. Raises as `loadTable`. */
    async loadColumns(name: string): Promise<readonly Column[]> {
        return (await this.loadTable(name)).columns;
    }
}

/** Put the user's schema first, the schemas of tables that others share next, and TAP_SCHEMA last. */
function orderSchemas(schemas: readonly Schema[]): Schema[] {
    const rank = ({ name }: Schema) =>
        /^"?mydb_/i.test(name) ? 1 : ({ mydb: 0, tap_schema: 3 }[name.toLowerCase()] ?? 2);
    return schemas.toSorted((one, other) => rank(one) - rank(other));
}

async function fetchTable(name: string): Promise<TableDescription> {
    const answer = await askService(`tables/${encodeURIComponent(name)}`);
    return tableOf(parseXml(await answer.text()), answer.headers.get('Skyhouse-Table-Expires') ?? '');
}

export const catalogue = new Catalogue();
