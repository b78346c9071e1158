/** A result's table on the page. Its rows live in a worker. */

import { loadPart } from '../browser/pagePart';
import { credentials } from '../tap/credentials.svelte';
import { addressOf, errorText, queryForm, UNASKED } from '../tap/tapRequest';
import { text } from '../text';
import { withUploadType } from '../tap/uploadType';
import { TableClosed, WorkerLink } from './workerLink';
import { moveColumns } from '../model/columnMoves';
import type {
    Cell,
    ComputedColumn,
    Facet,
    Field,
    Filter,
    Page,
    Sort,
    Source,
    State,
    Table,
    TextRequest,
} from '../model/resultModel';
import type { Failure, WorkerNews, Progress, LoadRequest } from './workerMessages';

/** Request a result. Failures are in the table's state, never thrown. */
export function openTable(source: Source): WorkerTable {
    return new WorkerTable(source);
}

/** Return the worker's request for a source. */
export function loadRequestOf(source: Source): LoadRequest {
    const common = { authorization: credentials.header, sync: addressOf('sync') };
    if (source.kind === 'job')
        return { ...common, from: { url: addressOf(`async/${encodeURIComponent(source.id)}/results/result`) } };
    if (source.kind === 'file') return { ...common, from: { file: source.file } };
    if (source.share) return { ...common, from: { url: source.share.rows } };
    const { query, maxrec, isUnasked } = source;
    const asked = { FORMAT: 'arrow', QUERY: query, MAXREC: maxrec, ...(isUnasked && UNASKED) };
    const { values, files } = queryForm(asked, source.files);
    return { ...common, from: { form: values, files } };
}

export class WorkerTable implements Table {
    fields = $state.raw<readonly Field[]>([]);
    state = $state.raw<State>({ phase: 'loading' });
    rows = $state(0);
    shown = $state(0);
    version = $state(0);
    sorting = $state.raw<readonly Sort[]>([]);
    filters = $state.raw<readonly Filter[]>([]);
    computed = $state.raw<readonly ComputedColumn[]>([]);
    chosen = $state.raw<Uint8Array | undefined>(undefined);
    chosenCount = $state(0);
    hovered = $state(-1);
    /** bytes received */
    bytes = $state(0);
    /** seconds until the first rows and until the end */
    seconds = $state.raw<{ readonly first?: number; readonly all?: number }>({});
    /** the VOTable without rows that describes the result; '' if none */
    about = $state.raw('');
    /** the service has read a file for the page: the order of rows may differ */
    asUpload = $state(false);

    #firstPage: (Page & { readonly version: number }) | undefined;
    #link: WorkerLink;
    #opened = performance.now();

    constructor(source: Source) {
        this.#link = new WorkerLink(
            (news) => this.#takeNews(news),
            (why) => this.#endLoading({ phase: 'failed', message: text.results.workerFailed(why) }),
        );
        void this.#openSource(source);
    }

    async #openSource(source: Source): Promise<void> {
        const file = source.kind === 'file' && {
            ...source,
            file: await withUploadType(new File([source.file], source.name)),
        };
        this.#link.openResult(loadRequestOf(file || source));
    }

    readPage(from: number, to: number, columns?: readonly number[]): Promise<Page> {
        const known = this.#findInFirstPage(from, to, columns ?? [...this.fields.keys()]);
        return known ? Promise.resolve(known) : this.#link.askWorker('readPage', from, to, columns);
    }

    #findInFirstPage(from: number, to: number, columns: readonly number[]): Page | undefined {
        const page = this.#firstPage;
        if (page?.version !== this.version) return undefined;
        const [start, end] = [Math.max(0, from), Math.min(to, this.shown)];
        const known = page.cells[0]?.length ?? 0;
        if (end > page.rows.length || columns.some((column) => column >= known)) return undefined;
        const cells = page.cells.slice(start, end).map((row) => columns.map((column) => row[column] ?? null));
        return { rows: page.rows.slice(start, end), cells };
    }

    readNumbers(column: number): Promise<Float64Array<ArrayBuffer>> {
        return this.#link.askOnce(`numbers ${column}`, this.rows, 'readNumbers', column);
    }

    readOrder(): Promise<Uint32Array<ArrayBuffer>> {
        return this.#link.askOnce('readOrder', this.version, 'readOrder');
    }

    summarizeColumn(column: number): ReturnType<Table['summarizeColumn']> {
        return this.#link.askWorker('summarizeColumn', column);
    }

    sortBy(by: readonly Sort[]): Promise<void> {
        this.sorting = by;
        return this.#arrangeRows();
    }

    filterBy(by: readonly Filter[]): Promise<void> {
        this.filters = by;
        return this.#arrangeRows();
    }

    async #arrangeRows(): Promise<void> {
        const arranged = this.#link.askWorker('arrange', this.sorting, this.filters);
        // a closed table needs no order
        const progress = await arranged.catch(ignoreClosed);
        if (progress) this.#takeProgress(progress);
    }

    async computeColumns(columns: readonly ComputedColumn[]): Promise<void> {
        const stored = this.fields.slice(0, this.fields.length - this.computed.length);
        const { planColumns } = await loadPart(() => import('../expression/computedColumn'));
        const plans = planColumns(columns, stored);
        const moved = moveColumns(this.fields, [...stored, ...plans.map(({ field }) => field)]);
        const sorting = this.sorting.flatMap((sort) => moved(sort) ?? []);
        const filters = this.filters.flatMap((filter) => (filter.column < 0 ? filter : (moved(filter) ?? [])));
        const { fields, ...progress } = await this.#link.askWorker('computeColumns', plans, sorting, filters);
        this.#link.forgetAnswers();
        [this.computed, this.fields, this.sorting, this.filters] = [columns, fields, sorting, filters];
        this.#takeProgress(progress);
    }

    async previewColumn(column: ComputedColumn): Promise<Cell[]> {
        const { planColumn } = await loadPart(() => import('../expression/computedColumn'));
        return this.#link.askWorker('previewColumn', planColumn(column, this.fields));
    }

    countFacets(columns: readonly number[]): Promise<Facet[]> {
        return this.#link.askWorker('countFacets', columns);
    }

    readRows(rows: Uint32Array, columns: readonly number[]): Promise<Cell[][]> {
        return this.#link.askWorker('readRows', rows, columns);
    }

    chooseRows(rows: Uint8Array | undefined): void {
        const chosen = rows ? countMarks(rows) : 0;
        this.chosen = chosen ? rows : undefined;
        this.chosenCount = chosen;
    }

    writeText(what: TextRequest): Promise<Blob> {
        return this.#link.askWorker('writeText', what, what.rows === 'chosen' ? this.chosen : undefined);
    }

    stop(): void {
        if (this.state.phase === 'loading') void this.#link.askWorker('stop').catch(ignoreClosed);
    }

    close(): void {
        this.#link.close();
    }

    #takeNews(news: WorkerNews): void {
        if (news.news === 'fields') {
            this.fields = news.fields;
            this.about = news.about;
            this.asUpload = news.asUpload;
        } else if (news.news === 'rows') {
            if (news.firstPage) this.#firstPage = { ...news.firstPage, version: news.version };
            this.#takeProgress(news);
        } else if (news.news === 'complete')
            this.#endLoading({
                phase: 'complete',
                ...(news.overflow === undefined ? {} : { overflow: news.overflow }),
            });
        else this.#endLoading(this.#stateOf(news.failure));
    }

    #takeProgress(progress: Progress): void {
        if (progress.rows && this.seconds.first === undefined) this.seconds = { first: this.#elapsedSeconds() };
        this.rows = progress.rows;
        this.shown = progress.shown;
        this.version = progress.version;
        this.bytes = progress.bytes;
    }

    #endLoading(state: State): void {
        if (this.state.phase !== 'loading') return;
        this.seconds = { ...this.seconds, all: this.#elapsedSeconds() };
        this.state = state;
    }

    #elapsedSeconds(): number {
        return (performance.now() - this.#opened) / 1000;
    }

    #stateOf(failure: Failure): State {
        if (failure.reason === 'stopped' && this.fields.length)
            return { phase: 'complete', overflow: text.results.stopped(this.rows) };
        const message = describeFailure(failure, this.rows);
        // the sign-in dialog shows why the credentials were refused
        if (failure.reason === 'refused' && failure.status === 401) credentials.refused = message;
        return { phase: 'failed', message };
    }
}

function ignoreClosed(error: unknown): undefined {
    if (!(error instanceof TableClosed)) throw error;
}

/** Return the number of marked rows. Runs at every step of a brush over millions of rows. */
function countMarks(rows: Uint8Array): number {
    // four rows at a time: the sum of the four bytes of a word is the upper byte of its product with 0x01010101
    const words = new Uint32Array(rows.buffer, rows.byteOffset, rows.byteOffset % 4 ? 0 : rows.length >> 2);
    let count = 0;
    for (let at = 0; at < words.length; at++) count += Math.imul(words[at]!, 0x01010101) >>> 24;
    for (let row = 4 * words.length; row < rows.length; row++) count += rows[row]!;
    return count;
}

/** Describe why there is no result. */
export function describeFailure(failure: Failure, rows: number): string {
    const texts = text.results.failures;
    switch (failure.reason) {
        case 'refused':
            return errorText(failure.body) || text.common.failed(failure.status);
        case 'service':
            return failure.message;
        case 'no answer':
            return text.common.noAnswer;
        case 'unreadable':
            return texts.unreadable(failure.what);
        case 'broken off':
            return texts.brokenOff(rows);
        case 'memory':
            return texts.memory(rows);
        case 'no table':
            return texts.noTable;
        case 'stopped':
            return texts.stopped;
    }
}
