/** Everything that the page of one table shows, each as it comes: none waits for another. */

import { credentials } from '../tap/credentials.svelte';
import { catalogue, type TableDescription } from '../tap/catalogue.svelte';
import {
    loadFacts,
    loadPrincipals,
    loadReferrers,
    loadRowCount,
    type TableFacts,
    type Referrer,
    type RowCount,
} from './tableFacts';
import { service } from '../tap/serviceInfo.svelte';
import { StatisticsLoader } from './statisticsLoader.svelte';

/** What one part of the page has come to. */
export class PagePart<Value> {
    value = $state.raw<Value>();
    failed = $state('');

    /** Take what comes. Never raises: `failed` says what is wrong. */
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
    /** whether the service finds positions by name */
    readonly names = new PagePart<boolean>();
    statistics = $state.raw<StatisticsLoader>();

    #closed = false;

    constructor(readonly name: string) {
        void this.#loadAll();
    }

    /** whether it is one of the user's own tables */
    get own(): boolean {
        return /^mydb\./i.test(this.name) && credentials.header !== '';
    }

    /** Ask for nothing more. */
    close(): void {
        this.#closed = true;
        this.statistics?.close();
    }

    async #loadAll(): Promise<void> {
        await this.about.loadFrom(catalogue.table(this.name));
        const table = this.about.value?.name;
        if (!table || this.#closed) return;
        void this.#loadStatistics(table);
        void this.names.loadFrom(service.hasFunction('ivo_simbadpoint'));
        void this.principals.loadFrom(loadPrincipals(table));
        void this.meta.loadFrom(loadFacts(table));
        void this.referrers.loadFrom(loadReferrers(table));
    }

    async #loadStatistics(table: string): Promise<void> {
        await this.rows.loadFrom(loadRowCount(table));
        // a table whose rows cannot be counted is taken for a large one
        if (!this.#closed) this.statistics = new StatisticsLoader(table, this.rows.value?.rows ?? 1e9);
    }
}
