/** Rows that are marked here are marked in other programs, and the other way round: of tables that both have. */

import type { Table } from '../model/resultModel';

type Parameters_ = { readonly [name: string]: unknown };
type Tell = (to: string, mtype: string, parameters: Record<string, string | string[]>) => Promise<void>;

/** A list of rows this long is more than a message should be. */
const MAX_ROWS = 100_000;

export class TableLinks {
    readonly #tables = new Map<string, Table>();
    /** what another program has just marked here is not told back to it */
    readonly #taken = new WeakMap<Table, unknown>();

    constructor(readonly tell: Tell) {}

    /** `url` is the table-id that it was sent with. The function ends it. */
    linkTable(url: string, table: Table): () => void {
        this.#tables.set(url, table);
        return () => {
            if (this.#tables.get(url) === table) this.#tables.delete(url);
        };
    }

    /** Tell which rows are chosen; nothing if others have said so, or if they are too many. */
    async sendChoice(url: string, table: Table): Promise<void> {
        const { chosen, chosenCount } = table;
        if (chosen === this.#taken.get(table) || chosenCount > MAX_ROWS) return;
        const rows: string[] = [];
        chosen?.forEach((one, row) => one && rows.push(String(row)));
        this.#taken.set(table, chosen);
        await this.tell('', 'table.select.rowList', { 'table-id': url, url, 'row-list': rows });
    }

    /** Tell which row is under the pointer. */
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
