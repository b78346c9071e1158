/** The time series of an object: of the rows that the tables have there. */

import { queryRows } from '../tap/jsonRows';
import type { ObjectMatches } from './objectMatches.svelte';
import { loadTableKeys, type TableKey } from '../tap/tableKeys';
import { MAX_SERIES_ROWS, seriesQuery, type ObjectTable } from './objectTables';
import { readSeries, type ObservedSeries } from './timeSeries';

export interface Curve {
    readonly table: string;
    readonly adql: string;
    readonly series?: ObservedSeries;
    readonly failed?: string;
}

export class ObjectSeries {
    /** tables with rows, or with a failure */
    curves = $state.raw<readonly Curve[]>([]);
    readonly #found: ObjectMatches;
    readonly #stop = new AbortController();

    constructor(found: ObjectMatches) {
        this.#found = found;
    }

    /** Load the series of the matched rows. Never raises; a failed curve has the error. */
    async load(): Promise<void> {
        const tables = this.#found.tables.filter(({ series }) => series);
        if (!this.#found.done || tables.length === 0) return;
        const keys = await loadTableKeys().catch((): TableKey[] => []);
        for (const table of tables) {
            const curve = await this.#loadCurve(table, keys);
            if (this.#stop.signal.aborted) return;
            if (curve) this.curves = [...this.curves, curve];
        }
    }

    /** End all requests. */
    close(): void {
        this.#stop.abort();
    }

    async #loadCurve(table: ObjectTable, keys: readonly TableKey[]): Promise<Curve | undefined> {
        const { matches, centre } = this.#found;
        const matched = matches.flatMap(({ table: { name }, rows }) =>
            rows?.data[0] ? [{ table: name, names: rows.names, row: rows.data[0] }] : [],
        );
        const adql = seriesQuery(table, keys, matched, centre);
        if (!adql) return undefined;
        try {
            const rows = await queryRows(adql, { maxrec: MAX_SERIES_ROWS, signal: this.#stop.signal });
            const series = readSeries(rows, table.series!);
            // one epoch is not a series: many catalogues have the time at which they observed an object
            return series.times.some((time) => time !== series.times[0])
                ? { table: table.name, adql, series }
                : undefined;
        } catch (error) {
            return { table: table.name, adql, failed: (error as Error).message };
        }
    }
}
