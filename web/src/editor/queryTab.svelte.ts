/** A tab of the query page: a query with its settings and run, or a result from elsewhere. */

import type { Source, View } from '../model/resultModel';
import { files } from '../uploads/userFiles.svelte';
import { TabEstimate } from './tabEstimate.svelte';
import { QueryRun, type RunMode } from './queryRun.svelte';
import { uploadsOf } from './uploadedTables';

/** The part of a tab that the browser keeps. */
export interface KeptTab {
    readonly id: string;
    readonly title: string;
    readonly named: boolean;
    readonly adql: string;
    readonly maxrec?: number;
    readonly format?: string;
    readonly mode?: RunMode;
    /** the job of the last run, or of the result that is shown */
    readonly job?: string;
    readonly shows?: boolean;
    /** the layout of its result as JSON (results/resultLayout), if it is not the usual one */
    readonly layout?: string;
    /** names of the files that came with it; their bytes are not kept */
    readonly fileNames?: readonly string[];
}

export class QueryTab {
    readonly id: string;
    title = $state('');
    /** the title was given, not generated */
    named = $state(false);
    adql = $state('');
    /** the selected text and its offset; a selection is run alone */
    selection = $state.raw({ text: '', from: 0 });
    /** the view that its results open with */
    view: View | undefined;
    /** the layout of its result as JSON, for the next run too; '' is the usual one */
    layout = $state('');
    /** offset of the cursor in `adql`, in UTF-16 units */
    cursor = 0;
    maxrec = $state<number | undefined>();
    format = $state('votable');
    mode = $state<RunMode>('auto');
    files = $state.raw<Record<string, Blob>>({});
    /** names of files that were lost when the page was reloaded */
    lost = $state.raw<readonly string[]>([]);
    /** the uploads of its query: files that came with the tab, and files of the Upload page that the query names */
    readonly sent: Record<string, Blob> = $derived({ ...files.blobsOf(uploadsOf(this.adql)), ...this.files });
    /** names of lost files that the query still needs */
    readonly missing: readonly string[] = $derived(this.lost.filter((name) => !(name in this.sent)));
    /** a result without a query: this tab has no editor */
    readonly shown: Source | undefined;
    /** the job of the last run before the page was reloaded */
    job: string | undefined;
    readonly estimateState = new TabEstimate();
    run = $state.raw<QueryRun | undefined>();

    constructor(id: string, shown?: Source) {
        this.id = id;
        this.shown = shown;
    }

    /** Run the selection, or the whole text. `mode` overrides the tab's mode once. */
    start(mode: RunMode = this.mode): void {
        const selected = this.selection.text.trim() !== '';
        const adql = selected ? this.selection.text : this.adql;
        if (!adql.trim()) return;
        const { maxrec, sent, format } = this;
        const asked = { query: adql, maxrec, files: sent };
        const run = new QueryRun({
            ...{ adql, title: this.named ? this.title : '', mode, maxrec, format, files: sent },
            offset: selected ? this.selection.from : 0,
            loadEstimate: (signal) => this.estimateState.askNow(asked, signal),
        });
        this.#replaceRun(run);
        void run.start();
    }

    /** Show the tab's result, or the job that it had started before the page was reloaded. */
    restore(): void {
        if (this.run) return;
        const run = new QueryRun(undefined);
        if (this.shown) void run.showSource(this.shown);
        else if (this.job) run.resumeJob(this.job);
        else return;
        this.#replaceRun(run);
    }

    /** Free its resources. */
    close(): void {
        this.estimateState.close();
        this.run?.close();
    }

    #replaceRun(run: QueryRun): void {
        this.run?.close();
        this.run = run;
    }

    /** Return the part that the browser keeps; undefined for results that exist only in this page. */
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
            ...(this.layout && { layout: this.layout }),
            ...(names.length > 0 && { fileNames: names }),
        };
    }

    /** Restore a kept tab. */
    static fromKept(kept: KeptTab): QueryTab {
        const shown = kept.shows && kept.job ? ({ kind: 'job', id: kept.job } as const) : undefined;
        const tab = new QueryTab(kept.id, shown);
        [tab.title, tab.named, tab.adql] = [kept.title, kept.named, kept.adql];
        [tab.maxrec, tab.format, tab.mode] = [kept.maxrec, kept.format ?? 'votable', kept.mode ?? 'auto'];
        tab.job = shown ? undefined : kept.job;
        tab.layout = kept.layout ?? '';
        tab.lost = kept.fileNames ?? [];
        return tab;
    }
}
