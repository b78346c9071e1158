/** A tab of the query page: a query with its settings and its run, or a result that comes from elsewhere. */

import type { Source } from '../results/model';

/** How a query is to be run; auto: as the estimate says. */
export type Mode = 'auto' | 'sync' | 'async';

/** What the browser keeps of a tab. */
export interface KeptTab {
    readonly id: string;
    readonly title: string;
    readonly named: boolean;
    readonly adql: string;
    readonly maxrec?: number;
    readonly format?: string;
    readonly mode?: Mode;
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
    /** the selected text of the editor; what is run if there is any */
    selection = $state('');
    /** where the cursor is, in UTF-16 units of `adql` */
    cursor = 0;
    maxrec = $state<number | undefined>();
    format = $state('votable');
    mode = $state<Mode>('auto');
    files = $state.raw<Record<string, Blob>>({});
    /** names of files that the tab had before the page was loaded anew, and has no longer */
    lost = $state.raw<readonly string[]>([]);
    /** a result without a query: this tab has no editor */
    readonly shown: Source | undefined;
    /** the job of the last run */
    job = $state<string | undefined>();
    /** to be run as soon as it is on the page */
    wanted = $state(false);

    constructor(id: string, shown?: Source) {
        this.id = id;
        this.shown = shown;
    }

    /** What the browser keeps of this tab; undefined for results that are here alone. */
    kept(): KeptTab | undefined {
        const shown = this.shown;
        if (shown && shown.kind !== 'job') return undefined;
        const job = shown?.id ?? this.job;
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
