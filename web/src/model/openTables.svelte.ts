/** The results that are open on the query page, for matches and overlays. */

import { untrack } from 'svelte';
import type { Source, Table } from './resultModel';

export interface OpenTable {
    /** the same after the page is loaded again */
    readonly id: string;
    readonly title: string;
    readonly table: Table;
    readonly source: Source;
}

class OpenTables {
    list = $state.raw<readonly OpenTable[]>([]);

    /** Add a table, or replace the one of that id. Return a function that removes it. */
    add(opened: OpenTable): () => void {
        const list = untrack(() => this.list);
        this.list = [...list.filter(({ id }) => id !== opened.id), opened];
        return () => void (this.list = untrack(() => this.list).filter((one) => one !== opened));
    }

    find(id: string): OpenTable | undefined {
        return this.list.find((one) => one.id === id);
    }
}

export const openTables = new OpenTables();
