/** Links chosen rows with other programs that have the same table. */

import type { Table } from '../model/resultModel';

type Parameters_ = { readonly [name: string]: unknown };
type Tell = (to: string, mtype: string, parameters: Record<string, string | string[]>) => Promise<void>;

interface Link {
    readonly table: Table;
    /** the table's row at each index of the sent rows; undefined: all rows as they arrived */
    readonly order: Uint32Array | undefined;
}

/** Longer lists are not sent. */
const MAX_ROWS = 100_000;

export class TableLinks {
    readonly #links = new Map<string, Link>();
    /** do not send a choice back to the program that made it */
    readonly #taken = new WeakMap<Table, unknown>();

    constructor(readonly tell: Tell) {}

    /**
     * Link the table sent with table-id `url`; `order` has the table's row at each index of what was sent, if that is
     * not every row as it arrived. Return a function that unlinks it.
     */
    linkTable(url: string, table: Table, order?: Uint32Array): () => void {
        this.#links.set(url, { table, order });
        return () => {
            if (this.#links.get(url)?.table === table) this.#links.delete(url);
        };
    }

    /** Send the chosen rows, unless they came from another program or are too many. */
    async sendChoice(url: string, table: Table): Promise<void> {
        const { chosen, chosenCount } = table;
        if (chosen === this.#taken.get(table) || chosenCount > MAX_ROWS) return;
        const order = this.#links.get(url)?.order;
        const rows: string[] = [];
        if (order) order.forEach((row, index) => chosen?.[row] && rows.push(String(index)));
        else chosen?.forEach((one, row) => one && rows.push(String(row)));
        this.#taken.set(table, chosen);
        await this.tell('', 'table.select.rowList', { 'table-id': url, url, 'row-list': rows });
    }

    /** Send the row under the pointer. */
    async sendHighlight(url: string, table: Table): Promise<void> {
        const order = this.#links.get(url)?.order;
        const row = order ? order.indexOf(table.hovered) : table.hovered;
        if (row < 0) return;
        await this.tell('', 'table.highlight.row', { 'table-id': url, url, row: String(row) });
    }

    takeHighlight(_from: string, given: Parameters_): void {
        const link = this.#findLink(given);
        const row = link && rowAt(link, given['row']);
        if (link && row !== undefined) link.table.hovered = row;
    }

    takeSelection(_from: string, given: Parameters_): void {
        const link = this.#findLink(given);
        const list = given['row-list'];
        if (!link || !Array.isArray(list)) return;
        const { table } = link;
        const chosen = new Uint8Array(table.rows);
        for (const index of list) {
            const row = rowAt(link, index);
            if (row !== undefined) chosen[row] = 1;
        }
        const some = list.length > 0 ? chosen : undefined;
        this.#taken.set(table, some);
        table.chooseRows(some);
    }

    #findLink(given: Parameters_): Link | undefined {
        return this.#links.get(String(given['table-id'] ?? '')) ?? this.#links.get(String(given['url'] ?? ''));
    }
}

/** Return the table's row at an index of the sent rows; undefined if there is none. */
function rowAt({ table, order }: Link, index: unknown): number | undefined {
    const at = Number(index);
    const row = order ? order[at] : at;
    return Number.isInteger(at) && row !== undefined && row >= 0 && row < table.rows ? row : undefined;
}
