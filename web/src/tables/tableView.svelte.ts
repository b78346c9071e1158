/** The data of a table's page; each part appears as it arrives. */

import { credentials } from '../tap/credentials.svelte';
import { catalogue, type TableDescription } from '../tap/tableCatalogue.svelte';
import {
    loadFacts,
    loadPrincipals,
    loadReferrers,
    loadRowCount,
    type TableFacts,
    type Referrer,
    type RowCount,
} from './tableFacts';
import { StatisticsLoader } from './statisticsLoader.svelte';

/** A part of the page that loads on its own. */
export class PagePart<Value> {
    value = $state.raw<Value>();
    failed = $state('');

    /** Take the value when it arrives. Never raises; `failed` holds the reason. */
    async loadFrom(coming: Promise<Value>): Promise<void> {
        try {
            this.value = await coming;
            this.failed = '';
        } catch (error) {
            this.failed = (error as Error).message;
        }
    }
}

export class TableView {
    readonly about = new PagePart<TableDescription>();
    readonly rows = new PagePart<RowCount>();
    readonly meta = new PagePart<TableFacts>();
    readonly referrers = new PagePart<readonly Referrer[]>();
    readonly principals = new PagePart<ReadonlySet<string>>();
    statistics = $state.raw<StatisticsLoader>();

    #closed = false;

    constructor(readonly name: string) {
        void this.#loadAll();
    }

    /** Whether it is one of the user's tables. */
    get own(): boolean {
        return /^mydb\./i.test(this.name) && credentials.header !== '';
    }

    /** Stop loading. */
    close(): void {
        this.#closed = true;
        this.statistics?.close();
    }

    async #loadAll(): Promise<void> {
        await this.about.loadFrom(catalogue.loadTable(this.name));
        const table = this.about.value?.name;
        if (!table || this.#closed) return;
        void this.#loadStatistics(table);
        void this.principals.loadFrom(loadPrincipals(table));
        void this.meta.loadFrom(loadFacts(table));
        void this.referrers.loadFrom(loadReferrers(table));
    }

    async #loadStatistics(table: string): Promise<void> {
        await this.rows.loadFrom(loadRowCount(table));
        // treat a table whose rows cannot be counted as large
        if (!this.#closed) this.statistics = new StatisticsLoader(table, this.rows.value?.rows ?? 1e9);
    }
}
