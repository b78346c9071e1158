/** The tables of all results that are open, so that plots can show one over another. */

import type { Table } from './resultModel';

export interface OpenTable {
    /** the same after the page is loaded again */
    readonly id: string;
    readonly title: string;
    readonly table: Table;
}

class OpenTables {
    list = $state.raw<readonly OpenTable[]>([]);

    /** Add a table, or replace the one of that id. Return a function that removes it. */
    add(opened: OpenTable): () => void {
        this.list = [...this.list.filter(({ id }) => id !== opened.id), opened];
        return () => void (this.list = this.list.filter((one) => one !== opened));
    }

    find(id: string): OpenTable | undefined {
        return this.list.find((one) => one.id === id);
    }
}

export const openTables = new OpenTables();
