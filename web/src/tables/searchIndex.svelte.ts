/** The index of the search: all tables, and the columns of all tables, loaded on first use. */

import { catalogue, type Column } from '../tap/tableCatalogue.svelte';
import { columnsOfFile, fileOfTable, uploadSchemas } from '../uploads/uploadSchema';
import { queryRows, type Value } from '../tap/jsonRows';
import { prepareEntry, searchEntries, type SearchEntry, type Findings, type PreparedEntry } from './catalogueSearch';

/** Columns kept in memory; a larger service is searched up to this number. */
const MAX_COLUMNS = 200_000;
const QUERY =
    'SELECT table_name, column_name, description, unit, ucd, principal FROM TAP_SCHEMA.columns ORDER BY table_name, column_index';

class SearchIndex {
    /** 'idle' until the columns are requested */
    phase = $state<'idle' | 'loading' | 'ready' | 'failed'>('idle');
    /** why the columns are missing */
    failed = $state('');
    /** number of searched columns if the service has more, otherwise 0 */
    cut = $state(0);

    #columns = $state.raw<readonly PreparedEntry[]>([]);
    #version = -1;

    readonly #tables = $derived(
        [...uploadSchemas(), ...catalogue.schemas].flatMap(({ tables }) =>
            tables.map((table) => prepareEntry(tableEntry(table))),
        ),
    );
    /** the columns of the user's files */
    readonly #uploaded = $derived(
        uploadSchemas().flatMap(({ tables }) =>
            tables.flatMap(({ name }) => {
                const file = fileOfTable(name);
                return file ? columnsOfFile(file).map((column) => prepareEntry(uploadedEntry(name, column))) : [];
            }),
        ),
    );

    readonly #all = $derived([...this.#tables, ...this.#uploaded, ...this.#columns]);

    /** Load all columns unless they are here. Never raises; `failed` holds the reason. */
    async loadColumns(): Promise<void> {
        const version = catalogue.version;
        if (this.#version === version && this.phase !== 'failed') return;
        [this.#version, this.phase] = [version, 'loading'];
        try {
            const answer = await queryRows(QUERY, { maxrec: MAX_COLUMNS });
            if (version !== this.#version) return;
            this.#columns = answer.data.map((row) => prepareEntry(columnEntry(row)));
            this.cut = answer.overflow ? answer.data.length : 0;
            [this.phase, this.failed] = ['ready', ''];
        } catch (error) {
            if (version !== this.#version) return;
            [this.phase, this.failed] = ['failed', (error as Error).message];
        }
    }

    /** All loaded columns. */
    get columns(): readonly SearchEntry[] {
        return this.#columns.map((column) => column.entry);
    }

    /** Return the matching tables and columns, the best `most` first. */
    searchAll(typed: string, most: number): Findings {
        return searchEntries(this.#all, typed, most);
    }
}

function tableEntry(table: { name: string; description: string }): SearchEntry {
    return { kind: 'table', table: table.name, ...table, unit: '', ucd: '', principal: true };
}

function uploadedEntry(table: string, { name, description, unit, ucd }: Column): SearchEntry {
    return { kind: 'column', table, name, description, unit, ucd, principal: true };
}

function columnEntry([table, name, description, unit, ucd, principal]: readonly Value[]): SearchEntry {
    const asText = (value: Value | undefined) => (typeof value === 'string' ? value : '');
    return {
        kind: 'column',
        table: asText(table),
        name: asText(name),
        description: asText(description),
        unit: asText(unit),
        ucd: asText(ucd),
        principal: principal === 1,
    };
}

export const searchIndex = new SearchIndex();
