/** The tree of schemas, tables and columns as a list of visible rows. */

import { SvelteMap } from 'svelte/reactivity';
import { catalogue, type Column, type Schema } from '../tap/tableCatalogue.svelte';
import { UPLOAD_SCHEMA } from '../adql/queryUploads';
import { columnsOfFile, fileOfTable, uploadSchemas } from '../uploads/uploadSchema';
import { lastPartOf } from '../adql/adqlNames';
import { text } from '../text';
import type { FoundEntry } from './catalogueSearch';

export interface TreeNode {
    readonly id: string;
    readonly level: 1 | 2 | 3;
    /** `note`: a message instead of rows */
    readonly kind: 'schema' | 'table' | 'column' | 'note';
    readonly label: string;
    /** text that a click inserts; '' if none */
    readonly insert: string;
    /** its table; '' for a schema */
    readonly table: string;
    readonly description: string;
    readonly column?: Column;
    readonly found?: FoundEntry;
    /** undefined if it cannot be opened */
    readonly open?: boolean;
    /** position among its siblings, from 1, and their number */
    readonly position: number;
    readonly siblings: number;
}

/** Catalogues with at most this many tables start open. */
const FEW_TABLES = 40;

export type Columns = readonly Column[] | 'loading' | { readonly failed: string };

/** Return the visible rows: schemas, tables of open schemas, columns of open tables. */
export function flattenTree(
    schemas: readonly Schema[],
    isOpen: (id: string) => boolean,
    columns: (table: string) => Columns | undefined,
): TreeNode[] {
    return schemas.flatMap((schema, at) => {
        const open = isOpen(schema.name);
        const node: TreeNode = {
            ...{ id: schema.name, level: 1, kind: 'schema', label: schema.name, insert: '', table: '' },
            ...{ description: schema.description, open, position: at + 1, siblings: schemas.length },
        };
        return [node, ...(open ? schema.tables.flatMap((_, index) => tableRows(schema, index, isOpen, columns)) : [])];
    });
}

function tableRows(
    schema: Schema,
    at: number,
    isOpen: (id: string) => boolean,
    columns: (table: string) => Columns | undefined,
): TreeNode[] {
    const table = schema.tables[at]!;
    const open = isOpen(table.name);
    const node: TreeNode = {
        ...{ id: table.name, level: 2, kind: 'table', label: lastPartOf(table.name), insert: table.name },
        ...{ table: table.name, description: table.description, open, position: at + 1 },
        siblings: schema.tables.length,
    };
    return [node, ...(open ? columnRows(table.name, columns(table.name)) : [])];
}

function columnRows(table: string, columns: Columns | undefined): TreeNode[] {
    const common = { level: 3, table, description: '' } as const;
    if (!columns || columns === 'loading') return [noteNode(common, text.common.loading)];
    if ('failed' in columns) return [noteNode(common, columns.failed)];
    return columns.map((column, at) => ({
        ...common,
        ...{ id: `${table}/${column.name}`, kind: 'column', label: column.name, insert: column.name, column },
        ...{ description: column.description, position: at + 1, siblings: columns.length },
    }));
}

function noteNode(common: { level: 3; table: string; description: string }, label: string): TreeNode {
    return { ...common, id: `${common.table}/`, kind: 'note', label, insert: '', position: 1, siblings: 1 };
}

/** Return search results as rows of one level. */
export function foundRows(found: readonly FoundEntry[]): TreeNode[] {
    return found.map((each, at) => ({
        ...{ id: `${each.entry.table}/${each.entry.name}`, level: 1, kind: each.entry.kind, label: each.entry.name },
        ...{ insert: each.entry.name, table: each.entry.table, description: each.entry.description, found: each },
        ...{ position: at + 1, siblings: found.length },
    }));
}

/** Return the row that a key of the WAI-ARIA tree goes to; undefined for other keys. */
export function indexAfterKey(nodes: readonly TreeNode[], at: number, key: string, page: number): number | undefined {
    const last = nodes.length - 1;
    const within = (index: number) => Math.max(0, Math.min(last, index));
    const node = nodes[at];
    switch (key) {
        case 'ArrowDown':
            return within(at + 1);
        case 'ArrowUp':
            return within(at - 1);
        case 'PageDown':
            return within(at + page);
        case 'PageUp':
            return within(at - page);
        case 'Home':
            return 0;
        case 'End':
            return last;
        case 'ArrowRight':
            return node?.open && (nodes[at + 1]?.level ?? 0) > node.level ? at + 1 : undefined;
        case 'ArrowLeft':
            return node && !node.open ? parentOf(nodes, at) : undefined;
        default:
            return key.length === 1 && /\S/.test(key) && key !== '*' ? findByLetter(nodes, at, key) : undefined;
    }
}

function parentOf(nodes: readonly TreeNode[], at: number): number | undefined {
    const level = nodes[at]!.level;
    for (let index = at - 1; index >= 0; index--) if (nodes[index]!.level < level) return index;
    return undefined;
}

/** Return the next row that begins with the letter. */
function findByLetter(nodes: readonly TreeNode[], at: number, letter: string): number | undefined {
    for (let step = 1; step <= nodes.length; step++) {
        const index = (at + step) % nodes.length;
        if (nodes[index]!.label.replace(/^"/, '').toLowerCase().startsWith(letter.toLowerCase())) return index;
    }
    return undefined;
}

export class SchemaTreeState {
    #changed = new SvelteMap<string, boolean>();
    #columns = new SvelteMap<string, Columns>();

    readonly #openAtFirst = $derived.by(() => {
        const own = catalogue.schemas.filter((schema) => schema.name.toUpperCase() !== 'TAP_SCHEMA');
        const tables = own.reduce((sum, schema) => sum + schema.tables.length, 0);
        return [UPLOAD_SCHEMA, ...(tables <= FEW_TABLES ? own.map((schema) => schema.name) : [])];
    });

    readonly nodes = $derived(
        flattenTree(
            [...uploadSchemas(), ...catalogue.schemas],
            (id) => this.isOpen(id),
            (table) => this.#columnsOf(table),
        ),
    );

    isOpen(id: string): boolean {
        return this.#changed.get(id) ?? this.#openAtFirst.includes(id);
    }

    #columnsOf(table: string): Columns | undefined {
        const file = fileOfTable(table);
        return file ? columnsOfFile(file) : this.#columns.get(table);
    }

    /** Open or close a schema or table; load the columns of a table. */
    toggleNode(node: TreeNode, open = !node.open): void {
        if (node.open === undefined) return;
        this.#changed.set(node.id, open);
        if (open && node.kind === 'table') void this.#loadColumns(node.table);
    }

    /** Reload what is visible after the tables have changed. */
    refresh(): void {
        for (const table of [...this.#columns.keys()]) {
            this.#columns.delete(table);
            if (this.isOpen(table)) void this.#loadColumns(table);
        }
    }

    async #loadColumns(table: string): Promise<void> {
        const known = this.#columnsOf(table);
        if (known && !('failed' in Object(known))) return;
        this.#columns.set(table, 'loading');
        try {
            this.#columns.set(table, await catalogue.loadColumns(table));
        } catch (error) {
            this.#columns.set(table, { failed: (error as Error).message });
        }
    }
}
