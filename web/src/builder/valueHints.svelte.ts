/** Extremes or most frequent values of the columns in conditions, loaded when a condition needs them. */

import { SvelteMap } from 'svelte/reactivity';
import { isUpload } from '../uploads/uploadSchema';
import { unquoteName } from '../adql/adqlNames';
import { queryRows } from '../tap/jsonRows';
import { catalogue } from '../tap/tableCatalogue.svelte';
import {
    basicsOf,
    basicsQuery,
    chooseSample,
    frequentQuery,
    shortValue,
    statisticsKindOf,
} from '../tables/columnStatistics';
import { loadRowCount } from '../tables/tableFacts';

export type ValueHint =
    /** `sampled`: of a part of the rows */
    | { readonly min: string; readonly max: string; readonly sampled: boolean }
    /** most frequent first; `all`: there are no others */
    | { readonly values: readonly string[]; readonly all: boolean };

/** Values that are offered. */
const MOST = 20;
/** A table whose rows cannot be counted is treated as large. */
const LARGE = 1e9;

class ValueHints {
    readonly #known = new SvelteMap<string, ValueHint | undefined>();
    #version = -1;

    hintOf(table: string, column: string): ValueHint | undefined {
        return this.#known.get(`${table} ${column}`);
    }

    /** Load the hint of a column once. Never raises: hints are a help. */
    async askFor(table: string, column: string): Promise<void> {
        if (this.#version !== catalogue.version) this.#known.clear();
        this.#version = catalogue.version;
        const key = `${table} ${column}`;
        if (this.#known.has(key) || isUpload(table)) return;
        this.#known.set(key, undefined);
        const hint = await loadHint(table, column).catch(() => undefined);
        if (hint) this.#known.set(key, hint);
    }
}

async function loadHint(table: string, name: string): Promise<ValueHint | undefined> {
    const column = (await catalogue.loadColumns(table)).find((one) => unquoteName(one.name) === name);
    if (!column) return undefined;
    const kind = statisticsKindOf(column);
    if (kind !== 'number' && kind !== 'time' && kind !== 'text') return undefined;
    const { rows } = await loadRowCount(table).catch(() => ({ rows: LARGE }));
    const sample = chooseSample(table, rows);
    if (kind === 'text') {
        const { data } = await queryRows(frequentQuery(sample, column, MOST + 1));
        const values = data.slice(0, MOST).map(([value]) => String(value));
        return { values, all: data.length <= MOST && sample.percent === 100 };
    }
    const { names, data } = await queryRows(basicsQuery(sample, [column]));
    const [basics] = basicsOf([column], names, data[0] ?? []);
    if (!basics || basics.min === null) return undefined;
    return { min: shortValue(basics.min), max: shortValue(basics.max), sampled: sample.percent < 100 };
}

export const valueHints = new ValueHints();
