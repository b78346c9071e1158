/** A tab of the query page: a query with its settings and its run, or a result that comes from elsewhere. */

import type { Source, View } from '../model/resultModel';
import { files } from '../uploads/userFiles.svelte';
import { TabEstimate } from './tabEstimate.svelte';
import { QueryRun, type RunMode } from './queryRun.svelte';
import { uploadsOf } from './uploadedTables';

/** What the browser keeps of a tab. */
export interface KeptTab {
    readonly id: string;
    readonly title: string;
    readonly named: boolean;
    readonly adql: string;
    readonly maxrec?: number;
    readonly format?: string;
    readonly mode?: RunMode;
    /** the job of its last run, or the one whose result it shows */
    readonly job?: string;
    readonly shows?: boolean;
    /** names of the files that came with it; their bytes are not kept */
    readonly fileNames?: readonly string[];
}

export class QueryTab {
    readonly id: string;
    title = $state('');
    /** the user gave the title, or who opened the tab */
    named = $state(false);
    adql = $state('');
    /** the selected text of the editor, which is run if there is any, and where it begins */
    selection = $state.raw({ text: '', fromKept: 0 });
    /** what is shown first of its results */
    view: View = 'table';
    /** where the cursor is, in UTF-16 units of `adql` */
    cursor = 0;
    maxrec = $state<number | undefined>();
    format = $state('votable');
    mode = $state<RunMode>('auto');
    files = $state.raw<Record<string, Blob>>({});
    /** names of files that the tab had before the page was loaded anew, and has no longer */
    lost = $state.raw<readonly string[]>([]);
    /** what it uploads: the files that it was opened with, and those of the Upload page that it names */
    readonly sent: Record<string, Blob> = $derived({ ...files.blobsOf(uploadsOf(this.adql)), ...this.files });
    /** names of files that it had and that are gone */
    readonly missing: readonly string[] = $derived(this.lost.filter((name) => !(name in this.sent)));
    /** a result without a query: this tab has no editor */
    readonly shown: Source | undefined;
    /** the job of the last run, before the page was loaded anew */
    job: string | undefined;
    readonly foreseen = new TabEstimate();
    run = $state.raw<QueryRun | undefined>();

    constructor(id: string, shown?: Source) {
        this.id = id;
        this.shown = shown;
    }

    /** Run the selected text, or all; `mode` for this time. */
    start(mode: RunMode = this.mode): void {
        const selected = this.selection.text.trim() !== '';
        const adql = selected ? this.selection.text : this.adql;
        if (!adql.trim()) return;
        const { maxrec, sent, format } = this;
        const asked = { query: adql, maxrec, files: sent };
        const run = new QueryRun({
            ...{ adql, title: this.named ? this.title : '', mode, maxrec, format, files: sent },
            offset: selected ? this.selection.fromKept : 0,
            foreseen: (signal) => this.foreseen.askNow(asked, signal),
        });
        this.#replaceRun(run);
        void run.start();
    }

    /** Show the result that it is for, or that of the job that it had started before the page was loaded. */
    restore(): void {
        if (this.run) return;
        const run = new QueryRun(undefined);
        if (this.shown) void run.showSource(this.shown);
        else if (this.job) run.resumeJob(this.job);
        else return;
        this.#replaceRun(run);
    }

    /** Free what it holds. */
    close(): void {
        this.foreseen.close();
        this.run?.close();
    }

    #replaceRun(run: QueryRun): void {
        this.run?.close();
        this.run = run;
    }

    /** What the browser keeps of this tab; undefined for results that are here alone. */
    toKept(): KeptTab | undefined {
        const shown = this.shown;
        if (shown && shown.kind !== 'job') return undefined;
        const job = shown?.id ?? (this.run ? this.run.watched?.id : this.job);
        const names = [...Object.keys(this.files), ...this.lost];
        return {
            id: this.id,
            title: this.title,
            named: this.named,
            adql: this.adql,
            mode: this.mode,
            format: this.format,
            ...(this.maxrec !== undefined && { maxrec: this.maxrec }),
            ...(job !== undefined && { job }),
            ...(shown && { shows: true }),
            ...(names.length > 0 && { fileNames: names }),
        };
    }

    /** The tab that was kept. */
    static from(kept: KeptTab): QueryTab {
        const shown = kept.shows && kept.job ? ({ kind: 'job', id: kept.job } as const) : undefined;
        const tab = new QueryTab(kept.id, shown);
        [tab.title, tab.named, tab.adql] = [kept.title, kept.named, kept.adql];
        [tab.maxrec, tab.format, tab.mode] = [kept.maxrec, kept.format ?? 'votable', kept.mode ?? 'auto'];
        tab.job = shown ? undefined : kept.job;
        tab.lost = kept.fileNames ?? [];
        return tab;
    }
}
