/** The state of the page: the table's samples, the filters, and the exact count. */

import { catalogue } from '../tap/tableCatalogue.svelte';
import { findPositionColumns } from '../tables/skyPosition';
import { loadPrincipals, loadRowCount } from '../tables/tableFacts';
import { queryRows, toNumber } from '../tap/jsonRows';
import type { Table } from '../model/resultModel';
import type { Column } from '../tap/vosiTables';
import { loadEstimate, readResult } from './engineQuery.svelte';
import { ExactCount } from './exactCount.svelte';
import { chooseFirstPanels, MAX_QUANTITIES, uniqueQuantities, type FirstPanels } from './quantities';
import { DEFAULT_SAMPLE, estimateRows, sampleLimit, samplePercent, sampleQuery, type RowEstimate } from './rowSample';
import { SampledRows } from './sampledRows';
import {
    countQuery,
    hasFilters,
    isWithin,
    NO_FILTERS,
    readAddress,
    rowsQuery,
    writeAddress,
    type ExplorerAddress,
    type FilteredTable,
    type TableFilters,
} from './tableFilters';

/** Milliseconds after a drag before the engine is asked. */
const PAUSE = 200;
/** A finer sample is taken if fewer than this part of a sample's size meets the filters. */
const FEW = 0.1;

interface FinerSample {
    readonly rows: SampledRows;
    /** it has the rows that meet these */
    readonly filters: TableFilters;
}

const EMPTY: ExplorerAddress = {
    ...{ histograms: [], plane: undefined, filters: NO_FILTERS },
    ...{ zoomed: false, sample: undefined, unknown: [] },
};

export class TableExplorer {
    columns = $state.raw<readonly Column[]>([]);
    page = $state.raw<ExplorerAddress>(EMPTY);
    /** rows of the table; undefined while unknown */
    rows = $state.raw<number | undefined>();
    /** the sample of the whole table */
    sample = $state.raw<SampledRows | undefined>();
    finer = $state.raw<FinerSample | undefined>();
    /** why there is no sample; '' if there is, or none has been tried */
    failed = $state('');
    unrefined = $state('');
    refining = $state(false);
    asJob = $state(false);
    /** grows whenever counts have changed */
    version = $state(0);
    readonly count = new ExactCount();
    #of = $state.raw<FilteredTable>({ table: '', position: undefined });
    #hardLimit = Infinity;
    #sampling = new AbortController();
    #refining = new AbortController();
    #timer: ReturnType<typeof setTimeout> | undefined;

    constructor(
        readonly name: string,
        parameters: URLSearchParams,
    ) {
        void this.#load(parameters);
    }

    /** The finer sample, if it has all rows that meet the filters. */
    readonly usedFiner = $derived(
        this.finer && isWithin(this.page.filters, this.finer.filters) ? this.finer.rows : undefined,
    );

    /** All quantities of filters and panels, each once. */
    readonly quantities = $derived.by(() => {
        const { histograms, plane, filters } = this.page;
        const filtered = [...filters.ranges.values()].map(({ quantity }) => quantity);
        return uniqueQuantities([...filtered, ...(plane ?? []), ...histograms]).slice(0, MAX_QUANTITIES);
    });

    /** the rows that meet the filters, as ADQL */
    readonly query = $derived(rowsQuery(this.#of, this.page.filters));

    get hasSky(): boolean {
        return this.#of.position !== undefined;
    }

    /** Rows that meet the filters, from the samples. */
    estimateKept(): RowEstimate | undefined {
        const used = this.usedFiner ?? this.sample;
        return used && estimateRows(used.countKept(), used.percent);
    }

    /** Change the filters; `ended`: a drag is over, so the engine may count. */
    setFilters(filters: TableFilters, ended: boolean): void {
        this.page = { ...this.page, filters };
        this.#applyFilters();
        clearTimeout(this.#timer);
        this.#refining.abort();
        this.refining = false;
        this.count.clear();
        if (!ended) return;
        this.#keepAddress();
        this.#timer = setTimeout(() => void this.#askEngine(), PAUSE);
    }

    /** Show other quantities. A new sample is taken if it needs their values. */
    setPanels(panels: Partial<FirstPanels>): void {
        this.page = { ...this.page, ...panels };
        this.#keepAddress();
        const known = this.sample?.names ?? [];
        if (this.quantities.some(({ name }) => !known.includes(name))) void this.takeSample();
    }

    setZoomed(zoomed: boolean): void {
        this.page = { ...this.page, zoomed };
        this.#keepAddress();
    }

    setSampleSize(sample: number): void {
        this.page = { ...this.page, sample };
        this.#keepAddress();
        void this.takeSample();
    }

    /** Count however long it takes. */
    countAsJob(): void {
        void this.count.countRows(countQuery(this.#of, this.page.filters), true);
    }

    close(): void {
        clearTimeout(this.#timer);
        this.#sampling.abort();
        this.#refining.abort();
        this.count.clear();
    }

    async #load(parameters: URLSearchParams): Promise<void> {
        try {
            const { name, columns } = await catalogue.loadTable(this.name);
            const position = findPositionColumns(columns);
            this.#of = { table: name, position: position && [position[0].name, position[1].name] };
            const principal = await loadPrincipals(name).catch(() => undefined);
            const page = readAddress(parameters, columns, chooseFirstPanels(columns, principal));
            [this.columns, this.page] = [columns, page];
            await this.takeSample();
        } catch (error) {
            this.failed = (error as Error).message;
        }
    }

    /** Take the sample of the whole table, and what the filters need besides. */
    async takeSample(): Promise<void> {
        this.#sampling.abort();
        const { signal } = (this.#sampling = new AbortController());
        [this.failed, this.sample, this.finer, this.asJob] = ['', undefined, undefined, false];
        this.count.clear();
        try {
            this.rows ??= await countTable(this.#of.table, signal);
            const limits = (await loadEstimate(countQuery(this.#of, NO_FILTERS), signal)).maxrec;
            this.#hardLimit = limits.hard;
            const percent = samplePercent(this.rows, this.sampleSize);
            this.sample = await this.#loadRows(NO_FILTERS, percent, signal, () => (this.asJob = true));
            this.#applyFilters();
            await this.#askEngine();
        } catch (error) {
            if (!signal.aborted) this.failed = (error as Error).message;
        }
    }

    get sampleSize(): number {
        const asked = this.page.sample ?? DEFAULT_SAMPLE;
        return sampleLimit(asked) <= this.#hardLimit ? asked : Math.floor(this.#hardLimit / 1.2);
    }

    /** Count exactly; then, if the sample has few of these rows, sample them alone. */
    async #askEngine(): Promise<void> {
        const { sample } = this;
        const { filters } = this.page;
        if (!sample || !hasFilters(filters))
            return this.rows === undefined ? undefined : this.count.setKnown(this.rows);
        const whole = this.usedFiner?.percent === 100 ? this.usedFiner : sample;
        if (whole.percent === 100) return this.count.setKnown(whole.countKept());
        const rows = await this.count.countRows(countQuery(this.#of, filters));
        if (rows === undefined || filters !== this.page.filters) return;
        const used = this.usedFiner ?? sample;
        const percent = samplePercent(rows, this.sampleSize);
        if (rows > 0 && used.countKept() < FEW * this.sampleSize && percent > 2 * used.percent)
            await this.#refine(filters, percent);
    }

    async #refine(filters: TableFilters, percent: number): Promise<void> {
        const { signal } = (this.#refining = new AbortController());
        [this.refining, this.unrefined] = [true, ''];
        try {
            this.finer = { rows: await this.#loadRows(filters, percent, signal), filters };
            this.#applyFilters();
        } catch (error) {
            if (!signal.aborted) this.unrefined = (error as Error).message;
        }
        if (!signal.aborted) this.refining = false;
    }

    async #loadRows(
        filters: TableFilters,
        percent: number,
        signal: AbortSignal,
        onJob?: () => void,
    ): Promise<SampledRows> {
        const names = this.quantities.map(({ name }) => name);
        const { position: where } = this.#of;
        const query = sampleQuery(this.#of, this.quantities, filters, percent);
        const read = async (table: Table): Promise<SampledRows> => {
            const columns = await Promise.all(table.fields.map((_, at) => table.readNumbers(at)));
            const position = where && ([columns.shift()!, columns.shift()!] as const);
            return new SampledRows(names, columns, position, percent);
        };
        return readResult({ query, maxrec: sampleLimit(this.sampleSize) }, read, signal, onJob);
    }

    #applyFilters(): void {
        this.sample?.applyFilters(this.page.filters);
        this.usedFiner?.applyFilters(this.page.filters);
        this.version += 1;
    }

    /** Write the state into the address, without a new entry in the browser's history. */
    #keepAddress(): void {
        const parameters = writeAddress(this.page).toString();
        window.history.replaceState(null, '', `#/explore/${encodeURIComponent(this.name)}?${parameters}`);
    }
}

/** Return the number of rows of a table, of a view too. */
async function countTable(table: string, signal: AbortSignal): Promise<number> {
    const known = await loadRowCount(table).catch(() => undefined);
    if (known) return known.rows;
    const { data } = await queryRows(`SELECT COUNT(*) AS n FROM ${table}`, { signal });
    return toNumber(data[0]?.[0]);
}
