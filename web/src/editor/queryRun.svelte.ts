/** One run of a query, at once or as a job, from the choice of the mode to the result. */

import type { estimateQuery, Estimate, QueryError } from '../tap/estimateClient';
import { findTextPosition, TapError } from '../tap/tapRequest';
import { isEnded } from '../tap/uwsClient';
import type { Source, Table } from '../model/resultModel';
import { jobs } from '../jobs/userJobs.svelte';
import type { WatchedJob } from '../jobs/watchedJob.svelte';
import { text } from '../text';
import { shouldRunAsJob } from './tabEstimate.svelte';
import { history } from './queryHistory.svelte';
import { loadPart } from '../browser/pagePart';
import { newId } from '../browser/uniqueId';

/** How to run a query; auto: the estimate decides. */
export type RunMode = 'auto' | 'sync' | 'async';

export interface RunRequest {
    readonly adql: string;
    readonly title: string;
    readonly mode: RunMode;
    readonly maxrec?: number | undefined;
    /** format of a job's result */
    readonly format: string;
    readonly files: Record<string, Blob>;
    /** the tab's whole text: a selection may be run */
    readonly text: string;
    /** offset of the query in the text */
    readonly offset: number;
    /** called with the id of its job */
    noteJob(id: string): void;
    /** Return the estimate, from the tab if it is current */
    loadEstimate(signal: AbortSignal): ReturnType<typeof estimateQuery>;
}

/** starting: the mode is being chosen; running: at once, or as a job, which may be waiting */
export type RunPhase = 'starting' | 'running' | 'complete' | 'failed' | 'stopped';

export class QueryRun {
    phase = $state<RunPhase>('starting');
    /** why it failed or that it was stopped */
    message = $state('');
    /** errors of the query, counted from `offset` */
    errors = $state.raw<readonly QueryError[]>([]);
    estimate = $state.raw<Estimate | undefined>();
    /** undefined until it is chosen */
    mode = $state<'sync' | 'async' | undefined>();
    watched = $state.raw<WatchedJob | undefined>();
    source = $state.raw<Source | undefined>();
    table = $state.raw<Table | undefined>();
    /** a result that could not be opened, because the page could not load what reads it */
    unopened = $state.raw<Source | undefined>();
    /** milliseconds since 1970 */
    began = Date.now();
    /** elapsed time */
    seconds = $state<number | undefined>();
    /** id in the history; '' if it is not there */
    #id = '';
    readonly #stop = new AbortController();
    #closed = false;
    #effects: (() => void) | undefined;

    constructor(readonly wanted: RunRequest | undefined) {}

    readonly active = $derived(this.phase === 'starting' || this.phase === 'running');

    /** The query failed at /sync for want of time or rows: as a job it has more of both. */
    readonly betterAsJob = $derived(this.phase === 'failed' && this.mode === 'sync' && this.errors.length === 0);

    /** Run the query. `phase`, `message` and `errors` report failures. */
    async start(): Promise<void> {
        const wanted = this.wanted!;
        try {
            const mode = await this.#chooseMode(wanted);
            if (!mode || this.#stop.signal.aborted) return;
            this.mode = mode;
            this.#id = newId();
            history.noteStart({ id: this.#id, adql: wanted.adql, title: wanted.title, at: this.began, mode });
            await (mode === 'sync' ? this.#runNow(wanted) : this.#runAsJob(wanted));
        } catch (error) {
            if (!this.#stop.signal.aborted) this.#failWith(error as Error);
        }
    }

    /** Show a stored result, or a table that is already here. */
    async showSource(source: Source): Promise<void> {
        this.phase = 'running';
        await this.#openSource(source);
    }

    /** Follow a job that was started before the page was reloaded. */
    resumeJob(job: string): void {
        this.mode = 'async';
        const entry = history.entries.find((one) => one.job === job);
        if (entry?.state === 'running') [this.#id, this.began] = [entry.id, entry.at];
        this.#followJob(job);
    }

    /** Open the result again that could not be opened. */
    openAgain(): void {
        const source = this.unopened;
        if (!source) return;
        [this.unopened, this.phase, this.message] = [undefined, 'running', ''];
        void this.#openSource(source);
    }

    /** Stop the run and the engine's work for it. */
    async stop(): Promise<void> {
        this.#stop.abort();
        if (this.phase === 'starting') this.#endRun('stopped', text.editor.run.stopped);
        else if (this.watched && !this.table) await this.#abortJob(this.watched.id);
        else this.table?.stop();
    }

    /** Free the result; a job goes on. */
    close(): void {
        this.#closed = true;
        this.#stop.abort();
        this.#effects?.();
        this.table?.close();
    }

    async #chooseMode(wanted: RunRequest): Promise<'sync' | 'async' | undefined> {
        if (wanted.mode !== 'auto') return wanted.mode;
        try {
            const answered = await wanted.loadEstimate(this.#stop.signal);
            if ('estimate' in answered) {
                this.estimate = answered.estimate;
                return shouldRunAsJob(answered.estimate, wanted.maxrec) ? 'async' : 'sync';
            }
            this.errors = answered.errors;
            this.#endRun('failed', '');
            return undefined;
        } catch (error) {
            // a query without an estimate may still be answered; if the service is down, the run reports it
            if (!(error instanceof TapError)) throw error;
            return 'sync';
        }
    }

    async #runNow({ adql, maxrec, files }: RunRequest): Promise<void> {
        this.phase = 'running';
        await this.#openSource({ kind: 'sync', query: adql, files, ...(maxrec !== undefined && { maxrec }) });
    }

    async #runAsJob({ adql, title, maxrec, format, files }: RunRequest): Promise<void> {
        const id = await jobs.startJob({ query: adql, title, format, files, ...(maxrec !== undefined && { maxrec }) });
        history.updateEntry(this.#id, { job: id });
        if (this.#stop.signal.aborted && !this.#closed) return this.#abortJob(id);
        this.#followJob(id);
    }

    #followJob(id: string): void {
        const watched = jobs.lookAt(id);
        this.wanted?.noteJob(id);
        [this.watched, this.phase] = [watched, 'running'];
        this.#watchState(() => {
            if (this.table || !this.active) return;
            const phase = watched.job?.phase;
            if (watched.gone) this.#endRun('failed', watched.gone);
            else if (phase === 'COMPLETED' && watched.job?.collection) this.#endRun('complete', '');
            else if (phase === 'COMPLETED')
                void this.#openSource({ kind: 'job', id, ...(this.wanted && { files: this.wanted.files }) });
            else if (phase === 'ERROR') this.#failWithJob(watched);
            else if (phase && isEnded(phase))
                this.#endRun('stopped', watched.job?.error?.message ?? text.editor.run.stopped);
        });
    }

    async #openSource(source: Source): Promise<void> {
        let openTable;
        try {
            ({ openTable } = await loadPart(() => import('../rows/workerTable.svelte')));
        } catch (error) {
            this.#effects?.();
            this.unopened = source;
            this.#endRun('failed', (error as Error).message);
            return;
        }
        if (this.#closed) return;
        const table = openTable(source);
        [this.source, this.table] = [source, table];
        this.#watchState(() => {
            const { state } = table;
            if (!this.active || state.phase === 'loading') return;
            const stopped = this.#stop.signal.aborted;
            if (state.phase === 'failed' && !stopped) this.#failWith(new TapError(state.message, 0));
            else this.#endRun(stopped ? 'stopped' : 'complete', stopped ? text.editor.run.stopped : '');
        });
    }

    async #abortJob(id: string): Promise<void> {
        try {
            await jobs.stopJob(id);
        } catch (error) {
            this.message = (error as Error).message;
        }
    }

    #watchState(effect: () => void): void {
        this.#effects?.();
        this.#effects = $effect.root(() => {
            $effect(effect);
        });
    }

    #failWithJob({ job }: WatchedJob): void {
        const { message = text.editor.run.failed } = job?.error ?? {};
        this.errors = errorsInMessage(message);
        this.#endRun('failed', message);
    }

    #failWith(error: Error): void {
        this.errors = errorsInMessage(error.message);
        this.#endRun('failed', error.message);
    }

    #endRun(phase: 'complete' | 'failed' | 'stopped', message: string): void {
        [this.phase, this.message] = [phase, message];
        this.seconds = (Date.now() - this.began) / 1000;
        if (!this.#id) return;
        const { table } = this;
        const cut = table?.state.phase === 'complete' && table.state.overflow !== undefined;
        history.updateEntry(this.#id, {
            ...{ state: phase, seconds: this.seconds, cut },
            ...(table && { rows: table.rows }),
            ...(message && { message }),
        });
    }
}

/** Return the error at the start of a message, without the excerpt of the query; none without a position. */
function errorsInMessage(message: string): QueryError[] {
    const position = findTextPosition(message);
    const [first = ''] = message.split('\n');
    return position ? [{ message: first.replace(/^.*?line \d+, column \d+: /, ''), ...position }] : [];
}
