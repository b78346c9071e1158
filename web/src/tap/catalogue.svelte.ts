/** The tables of the service: the list at once, the columns of a table when they are asked for. */

import { untrack } from 'svelte';
import { credentials } from './credentials.svelte';
import { askService, fetchDocument, parseXml } from './tapRequest';
import { schemasOf, tableOf, type Column, type Schema, type TableDescription, type TableEntry } from './vosiTables';
import { areSameNames } from '../adql/identifiers';

export type { Column, ForeignKey, Schema, TableDescription, TableEntry } from './vosiTables';

class Catalogue {
    schemas = $state.raw<readonly Schema[]>([]);
    /** why the list could not be read, '' if it could */
    failed = $state('');
    /** whether the list has been read */
    loaded = $state(false);
    /** grows whenever tables may have come, gone or changed: what is kept about them is stale then */
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

    /** Read the list of tables unless it has been read. Never raises: `failed` says what is wrong. */
    loadTables(): Promise<void> {
        this.#loading ??= this.#readTables();
        return this.#loading;
    }

    /** Read everything anew: after tables were made or removed, or when somebody else asks. */
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

    /** A table of the list, by its name as a query may write it. */
    findTable(name: string): TableEntry | undefined {
        for (const schema of this.schemas) {
            const found = schema.tables.find((loadTable) => areSameNames(loadTable.name, name));
            if (found) return found;
        }
        return undefined;
    }

    /** All that the service says of a table, kept. Raises TapError, of status 404 if there is no such table. */
    table(name: string): Promise<TableDescription> {
        const kept = this.#tables.get(name);
        if (kept) return kept;
        const asked = fetchTable(name);
        this.#tables.set(name, asked);
        asked.catch(() => this.#tables.delete(name));
        return asked;
    }

    /** The columns of a table, in its order. Raises as `table` does. */
    async columns(name: string): Promise<readonly Column[]> {
        return (await this.table(name)).columns;
    }
}

/** The user's own tables first, the tables about tables last. */
function orderSchemas(schemas: readonly Schema[]): Schema[] {
    const place = ({ name }: Schema) => ({ mydb: 0, tap_schema: 2 })[name.toLowerCase()] ?? 1;
    return schemas.toSorted((one, other) => place(one) - place(other));
}

async function fetchTable(name: string): Promise<TableDescription> {
    const answer = await askService(`tables/${encodeURIComponent(name)}`);
    return tableOf(parseXml(await answer.text()), answer.headers.get('Skyhouse-Table-Expires') ?? '');
}

export const catalogue = new Catalogue();
