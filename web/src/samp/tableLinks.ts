/** Links chosen rows with other programs that have the same table. */

import type { Table } from '../model/resultModel';

type Parameters_ = { readonly [name: string]: unknown };
type Tell = (to: string, mtype: string, parameters: Record<string, string | string[]>) => Promise<void>;

/** Longer lists are not sent. */
const MAX_ROWS = 100_000;

export class TableLinks {
    readonly #tables = new Map<string, Table>();
    /** do not send a choice back to the program that made it */
    readonly #taken = new WeakMap<Table, unknown>();

    constructor(readonly tell: Tell) {}

    /** Link the table sent with table-id `url`. Return a function that unlinks it. */
    linkTable(url: string, table: Table): () => void {
        this.#tables.set(url, table);
        return () => {
            if (this.#tables.get(url) === table) this.#tables.delete(url);
        };
    }

    /** Send the chosen rows, unless they came from another program or are too many. */
    async sendChoice(url: string, table: Table): Promise<void> {
        const { chosen, chosenCount } = table;
        if (chosen === this.#taken.get(table) || chosenCount > MAX_ROWS) return;
        const rows: string[] = [];
        chosen?.forEach((one, row) => one && rows.push(String(row)));
        this.#taken.set(table, chosen);
        await this.tell('', 'table.select.rowList', { 'table-id': url, url, 'row-list': rows });
    }

    /** Send the row under the pointer. */
    async sendHighlight(url: string, table: Table): Promise<void> {
        if (table.hovered < 0) return;
        await this.tell('', 'table.highlight.row', { 'table-id': url, url, row: String(table.hovered) });
    }

    takeHighlight(_from: string, given: Parameters_): void {
        const row = Number(given['row']);
        const table = this.#findTable(given);
        if (table && Number.isInteger(row) && row >= 0 && row < table.rows) table.hovered = row;
    }

    takeSelection(_from: string, given: Parameters_): void {
        const table = this.#findTable(given);
        const list = given['row-list'];
        if (!table || !Array.isArray(list)) return;
        const chosen = new Uint8Array(table.rows);
        for (const row of list.map(Number))
            if (Number.isInteger(row) && row >= 0 && row < chosen.length) chosen[row] = 1;
        const some = list.length > 0 ? chosen : undefined;
        this.#taken.set(table, some);
        table.chooseRows(some);
    }

    #findTable(given: Parameters_): Table | undefined {
        return this.#tables.get(String(given['table-id'] ?? '')) ?? this.#tables.get(String(given['url'] ?? ''));
    }
}
