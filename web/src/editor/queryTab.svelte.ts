/** A tab of the query page: a query with its settings and run, or a result from elsewhere. */

import { areSameNames, lastPartOf } from '../adql/adqlNames';
import { namedUploads, uploadsOf } from '../adql/queryUploads';
import type { Source, View } from '../model/resultModel';
import type { QueryError } from '../tap/estimateClient';
import { catalogue } from '../tap/tableCatalogue.svelte';
import { files } from '../uploads/userFiles.svelte';
import { TabEstimate } from './tabEstimate.svelte';
import { QueryRun, type RunMode } from './queryRun.svelte';

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
    /** the job ran a part of the text */
    readonly selected?: boolean;
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
    /** files that came with the tab, whether its query still reads them or not */
    files = $state.raw<Record<string, Blob>>({});
    readonly estimateState = new TabEstimate();
    /** names of files that were lost when the page was reloaded */
    lost = $state.raw<readonly string[]>([]);
    /** the uploads of its query */
    readonly sent: Record<string, Blob> = $derived(this.#uploadsOf(this.adql));
    /** names of the uploaded tables that the query reads and that are not here */
    readonly missing: readonly string[] = $derived(namesWithout(uploadsOf(this.adql), this.sent));
    /** the errors of the text, without those that the missing tables explain */
    readonly errors: readonly QueryError[] = $derived.by(() => {
        const { errors } = this.estimateState;
        const isMissing = ({ message }: QueryError) => message.toUpperCase().includes('TAP_UPLOAD.');
        return this.missing.length > 0 ? errors.filter((error) => !isMissing(error)) : errors;
    });
    /** a result without a query: this tab has no editor */
    readonly shown: Source | undefined;
    /** the job of the last run, in this window or another */
    job = $state<string | undefined>();
    /** the job ran a part of the text */
    selected = $state(false);
    /** another window has closed it */
    closedElsewhere = $state(false);

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
        const { maxrec, format } = this;
        const sent = selected ? this.#uploadsOf(adql) : this.sent;
        const asked = { query: adql, maxrec, files: sent };
        [this.job, this.selected] = [undefined, selected];
        const run = new QueryRun({
            ...{ adql, title: this.named ? this.title : '', mode, maxrec, format, files: sent },
            ...{ text: this.adql, offset: selected ? this.selection.from : 0 },
            noteJob: (id) => (this.job = id),
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

    /** Return what a query of the tab reads of its files and of the files of the Upload page. */
    #uploadsOf(adql: string): Record<string, Blob> {
        const bare = files.list.map(({ name }) => name).filter((name) => !isStored(name));
        const listed = { ...files.blobsOf(uploadsOf(adql)), ...namedUploads(adql, files.blobsOf(bare)) };
        return { ...listed, ...namedUploads(adql, this.files) };
    }

    #replaceRun(run: QueryRun): void {
        this.run?.close();
        this.run = run;
    }

    /** Return the part that the browser keeps; undefined for results that exist only in this page. */
    toKept(): KeptTab | undefined {
        const shown = this.shown;
        if (shown && shown.kind !== 'job') return undefined;
        const job = shown?.id ?? this.job;
        const lost = this.lost.filter((name) => !(name in this.files));
        const names = [...Object.keys(this.files), ...lost].toSorted();
        return {
            id: this.id,
            title: this.title,
            named: this.named,
            adql: this.adql,
            mode: this.mode,
            format: this.format,
            ...(this.maxrec !== undefined && { maxrec: this.maxrec }),
            ...(job !== undefined && { job }),
            ...(job !== undefined && this.selected && { selected: true }),
            ...(shown && { shows: true }),
            ...(this.layout && { layout: this.layout }),
            ...(names.length > 0 && { fileNames: names }),
        };
    }

    /** Take over the state of a kept tab, which another window may have changed. A visible result is kept. */
    takeKept(kept: KeptTab): void {
        [this.title, this.named, this.adql] = [kept.title, kept.named, kept.adql];
        [this.maxrec, this.format, this.mode] = [kept.maxrec, kept.format ?? 'votable', kept.mode ?? 'auto'];
        [this.job, this.selected] = [this.shown ? undefined : kept.job, kept.selected ?? false];
        // the visible result keeps its layout
        if (!this.run) this.layout = kept.layout ?? '';
        this.lost = (kept.fileNames ?? []).filter((name) => !(name in this.files));
        this.closedElsewhere = false;
    }

    /** Restore a kept tab. */
    static fromKept(kept: KeptTab): QueryTab {
        const shown = kept.shows && kept.job ? ({ kind: 'job', id: kept.job } as const) : undefined;
        const tab = new QueryTab(kept.id, shown);
        tab.takeKept(kept);
        return tab;
    }
}

/** Whether a table of the service has the name: without a schema, it means that table and not a file. */
const isStored = (name: string): boolean =>
    catalogue.schemas.some(({ tables }) => tables.some((table) => areSameNames(lastPartOf(table.name), name)));

/** Return the names that are no key, ignoring case. */
function namesWithout(names: readonly string[], files: Record<string, Blob>): string[] {
    const known = Object.keys(files).map((name) => name.toLowerCase());
    return names.filter((name) => !known.includes(name.toLowerCase()));
}
