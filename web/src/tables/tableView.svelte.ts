/** Everything that the page of one table shows, each as it comes: none waits for another. */

import { credentials } from '../tap/credentials.svelte';
import { catalogue, type TableDescription } from '../tap/catalogue.svelte';
import { meta, principals, referrers, rowCount, type Meta, type Referrer, type RowCount } from './tableFacts';
import { service } from '../tap/serviceInfo.svelte';
import { TableStatistics } from './statisticsLoader.svelte';

/** What one part of the page has come to. */
export class Part<Value> {
    value = $state.raw<Value>();
    failed = $state('');

    /** Take what comes. Never raises: `failed` says what is wrong. */
    async take(coming: Promise<Value>): Promise<void> {
        try {
            this.value = await coming;
            this.failed = '';
        } catch (error) {
            this.failed = (error as Error).message;
        }
    }
}

export class TableView {
    readonly about = new Part<TableDescription>();
    readonly rows = new Part<RowCount>();
    readonly meta = new Part<Meta>();
    readonly referrers = new Part<readonly Referrer[]>();
    readonly principals = new Part<ReadonlySet<string>>();
    /** whether the service finds positions by name */
    readonly names = new Part<boolean>();
    statistics = $state.raw<TableStatistics>();

    #closed = false;

    constructor(readonly name: string) {
        void this.#load();
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

    async #load(): Promise<void> {
        await this.about.take(catalogue.table(this.name));
        const table = this.about.value?.name;
        if (!table || this.#closed) return;
        void this.#counted(table);
        void this.names.take(service.hasFunction('ivo_simbadpoint'));
        void this.principals.take(principals(table));
        void this.meta.take(meta(table));
        void this.referrers.take(referrers(table));
    }

    async #counted(table: string): Promise<void> {
        await this.rows.take(rowCount(table));
        // a table whose rows cannot be counted is taken for a large one
        if (!this.#closed) this.statistics = new TableStatistics(table, this.rows.value?.rows ?? 1e9);
    }
}
