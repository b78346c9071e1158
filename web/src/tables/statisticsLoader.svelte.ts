/** The statistics of a table's columns, asked for as they come into sight: few queries, one after the other. */

import { SvelteMap } from 'svelte/reactivity';
import { rows } from '../tap/jsonRows';
import type { Column } from '../tap/vosiTables';
import {
    basicsOf,
    basicsQuery,
    frequentQuery,
    histogramOf,
    histogramQuery,
    kindOf,
    rangeOf,
    sampled,
    type Basics,
    type Frequent,
    type Histogram,
    type Range,
    type Sampled,
} from './columnStatistics';

export interface ColumnStatistics extends Basics {
    readonly histogram?: Histogram;
    readonly frequent?: readonly Frequent[];
}

export type Known = ColumnStatistics | 'waiting' | { readonly failed: string };

/** Columns of one query: more would make all of them wait for the slowest. */
const TOGETHER = 8;
/** A moment in which the columns that come into sight together are gathered. */
const GATHER_MS = 150;

export class TableStatistics {
    readonly sample: Sampled;
    #known = new SvelteMap<string, Known>();
    #wanted: Column[] = [];
    #running = false;
    #timer: ReturnType<typeof setTimeout> | undefined;
    #stop = new AbortController();

    constructor(table: string, rowsOfTable: number) {
        this.sample = sampled(table, rowsOfTable);
    }

    of(column: Column): Known | undefined {
        return this.#known.get(column.name);
    }

    /** Ask for a column, unless it is known; after a failure again. */
    want(column: Column): void {
        const known = this.of(column);
        if (known && !(typeof known === 'object' && 'failed' in known)) return;
        this.#known.set(column.name, 'waiting');
        this.#wanted.push(column);
        this.#timer ??= setTimeout(() => void this.#work(), GATHER_MS);
    }

    /** A column that went out of sight before its turn came. */
    unwant(column: Column): void {
        if (!this.#wanted.includes(column)) return;
        this.#wanted = this.#wanted.filter((each) => each !== column);
        this.#known.delete(column.name);
    }

    /** Ask for nothing more. */
    close(): void {
        clearTimeout(this.#timer);
        this.#wanted = [];
        this.#stop.abort();
    }

    async #work(): Promise<void> {
        this.#timer = undefined;
        if (this.#running) return;
        this.#running = true;
        while (this.#wanted.length && !this.#stop.signal.aborted) {
            const columns = this.#wanted.splice(0, TOGETHER);
            await this.#ask(columns).catch((error: Error) => this.#failed(columns, error));
        }
        this.#running = false;
    }

    #failed(columns: readonly Column[], error: Error): void {
        for (const column of columns) {
            if (this.of(column) === 'waiting') this.#known.set(column.name, { failed: error.message });
        }
    }

    async #ask(columns: readonly Column[]): Promise<void> {
        const signal = this.#stop.signal;
        const answer = await rows(basicsQuery(this.sample, columns), { signal });
        const basics = basicsOf(columns, answer.names, answer.data[0] ?? []);
        const ranged: [Column, Range, Basics][] = [];
        columns.forEach((column, at) => {
            const range = rangeOf(column, basics[at]!);
            if (range) ranged.push([column, range, basics[at]!]);
            else if (!counts(column)) this.#known.set(column.name, basics[at]!);
        });
        await this.#histograms(ranged, signal);
        for (const [at, column] of columns.entries()) {
            if (this.of(column) === 'waiting') await this.#frequent(column, basics[at]!, signal);
        }
    }

    async #histograms(ranged: readonly [Column, Range, Basics][], signal: AbortSignal): Promise<void> {
        if (!ranged.length) return;
        const asked = ranged.map(([column, range]) => [column, range] as const);
        const answer = await rows(histogramQuery(this.sample, asked), { signal });
        ranged.forEach(([column, range, basics], at) => {
            const histogram = histogramOf(range, answer.data[0]?.[at] ?? null, basics.missing);
            this.#known.set(column.name, { ...basics, histogram });
        });
    }

    async #frequent(column: Column, basics: Basics, signal: AbortSignal): Promise<void> {
        const answer = await rows(frequentQuery(this.sample, column), { signal });
        const frequent = answer.data.map(([value, n]) => ({ value: value ?? null, rows: Number(n) }));
        this.#known.set(column.name, { ...basics, frequent });
    }
}

/** Whether the column has frequent values rather than a histogram. */
function counts(column: Column): boolean {
    const kind = kindOf(column);
    return kind === 'text' || kind === 'boolean';
}
