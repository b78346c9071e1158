/** Loads statistics of columns when they become visible, with few queries, one at a time. */

import { SvelteMap } from 'svelte/reactivity';
import { queryRows } from '../tap/jsonRows';
import type { Column } from '../tap/vosiTables';
import {
    basicsOf,
    basicsQuery,
    frequentQuery,
    histogramOf,
    histogramQuery,
    statisticsKindOf,
    rangeOf,
    chooseSample,
    type BasicStatistics,
    type Frequent,
    type Histogram,
    type Range,
    type StatisticsSample,
} from './columnStatistics';

export interface ColumnStatistics extends BasicStatistics {
    readonly histogram?: Histogram;
    readonly frequent?: readonly Frequent[];
}

export type StatisticsState = ColumnStatistics | 'waiting' | { readonly failed: string };

/** Columns per query: with more, all would wait for the slowest. */
const MAX_COLUMNS = 8;
/** Milliseconds to gather columns that become visible together. */
const GATHER_MS = 150;

export class StatisticsLoader {
    readonly sample: StatisticsSample;
    #known = new SvelteMap<string, StatisticsState>();
    #wanted: Column[] = [];
    #running = false;
    #timer: ReturnType<typeof setTimeout> | undefined;
    #stop = new AbortController();

    constructor(table: string, rowsOfTable: number) {
        this.sample = chooseSample(table, rowsOfTable);
    }

    statisticsOf(column: Column): StatisticsState | undefined {
        return this.#known.get(column.name);
    }

    /** Request a column unless it is known; again after a failure. */
    askFor(column: Column): void {
        const known = this.statisticsOf(column);
        if (known && !(typeof known === 'object' && 'failed' in known)) return;
        this.#known.set(column.name, 'waiting');
        this.#wanted.push(column);
        this.#timer ??= setTimeout(() => void this.#workThrough(), GATHER_MS);
    }

    /** Drop the request for a column that is no longer visible. */
    dropRequest(column: Column): void {
        if (!this.#wanted.includes(column)) return;
        this.#wanted = this.#wanted.filter((each) => each !== column);
        this.#known.delete(column.name);
    }

    /** Cancel all requests. */
    close(): void {
        clearTimeout(this.#timer);
        this.#wanted = [];
        this.#stop.abort();
    }

    async #workThrough(): Promise<void> {
        this.#timer = undefined;
        if (this.#running) return;
        this.#running = true;
        while (this.#wanted.length && !this.#stop.signal.aborted) {
            const columns = this.#wanted.splice(0, MAX_COLUMNS);
            await this.#loadColumns(columns).catch((error: Error) => this.#markFailed(columns, error));
        }
        this.#running = false;
    }

    #markFailed(columns: readonly Column[], error: Error): void {
        for (const column of columns) {
            if (this.statisticsOf(column) === 'waiting') this.#known.set(column.name, { failed: error.message });
        }
    }

    async #loadColumns(columns: readonly Column[]): Promise<void> {
        const signal = this.#stop.signal;
        const answer = await queryRows(basicsQuery(this.sample, columns), { signal });
        const basics = basicsOf(columns, answer.names, answer.data[0] ?? []);
        const ranged: [Column, Range, BasicStatistics][] = [];
        columns.forEach((column, at) => {
            const range = rangeOf(column, basics[at]!);
            if (range) ranged.push([column, range, basics[at]!]);
            else if (!hasFrequentValues(column)) this.#known.set(column.name, basics[at]!);
        });
        await this.#loadHistograms(ranged, signal);
        for (const [at, column] of columns.entries()) {
            if (this.statisticsOf(column) === 'waiting') await this.#loadFrequent(column, basics[at]!, signal);
        }
    }

    async #loadHistograms(ranged: readonly [Column, Range, BasicStatistics][], signal: AbortSignal): Promise<void> {
        if (!ranged.length) return;
        const asked = ranged.map(([column, range]) => [column, range] as const);
        const answer = await queryRows(histogramQuery(this.sample, asked), { signal });
        ranged.forEach(([column, range, basics], at) => {
            const histogram = histogramOf(range, answer.data[0]?.[at] ?? null, basics.missing);
            this.#known.set(column.name, { ...basics, histogram });
        });
    }

    async #loadFrequent(column: Column, basics: BasicStatistics, signal: AbortSignal): Promise<void> {
        const answer = await queryRows(frequentQuery(this.sample, column), { signal });
        const frequent = answer.data.map(([value, n]) => ({ value: value ?? null, rows: Number(n) }));
        this.#known.set(column.name, { ...basics, frequent });
    }
}

/** Whether a column has frequent values instead of a histogram. */
function hasFrequentValues(column: Column): boolean {
    const kind = statisticsKindOf(column);
    return kind === 'text' || kind === 'boolean';
}
