/** The tabs of the query page, kept in the browser. All pages open queries and results through this. */

import { writeStored, readStored } from '../browser/storedValues';
import { provideQueryOpener, type OpenOptions, type QueryOpener } from '../model/queryOpener';
import type { Source } from '../model/resultModel';
import { router } from '../browser/router.svelte';
import type { Fix, QueryFault } from '../tap/estimateClient';
import { text } from '../text';
import { applyFixes, changesOf, type TextChange } from './queryFixes';
import { newId } from '../browser/uniqueId';
import { QueryTab, type KeptTab } from './queryTab.svelte';

/** What the editor offers the tabs. */
export interface EditorHandle {
    insertText(text: string): void;
    replaceText(adql: string): void;
    applyChanges(changes: readonly TextChange[]): void;
    goTo(fault: QueryFault, offset?: number): void;
    closeCompletions(): void;
    focus(): void;
}

interface KeptTabs {
    readonly current: string;
    readonly tabs: readonly KeptTab[];
}

export class QueryTabs implements QueryOpener {
    tabs = $state.raw<readonly QueryTab[]>([]);
    currentId = $state('');
    readonly current: QueryTab = $derived(this.tabs.find((tab) => tab.id === this.currentId) ?? this.tabs[0]!);
    /** the browser has no room to keep the tabs */
    unkept = $state(false);
    /** the editor of the current tab, once it is loaded */
    editor: EditorHandle | undefined;

    constructor() {
        const { tabs, current } = readStored<KeptTabs>('tabs', { current: '', tabs: [] });
        this.tabs = tabs.map((tab) => QueryTab.fromKept(tab));
        if (this.tabs.length === 0) this.tabs = [this.#makeTab(text.editor.firstQuery)];
        this.currentId = this.tabs.some((tab) => tab.id === current) ? current : this.tabs[0]!.id;
    }

    /** Open a query in a new tab and go there; `run` runs it at once. */
    openQuery(adql: string, { title, run = false, files = {}, view, layout = '' }: OpenOptions = {}): QueryTab {
        const tab = this.#makeTab(adql, title);
        tab.files = files;
        [tab.view, tab.layout] = [view, layout];
        this.#addTab(tab);
        if (run) tab.start();
        return tab;
    }

    /** Insert text at the cursor of the current editor and go there. */
    insertText(inserted: string): void {
        if (this.current.shown) this.#addTab(this.#makeTab(''));
        const tab = this.current;
        if (this.editor) this.editor.insertText(inserted);
        else tab.adql = tab.adql.slice(0, tab.cursor) + inserted + tab.adql.slice(tab.cursor);
        this.#goToPage();
    }

    /** Apply fixes to the current query, which begins at `offset`; undo reverts them. */
    applyFixes(fixes: readonly Fix[], offset = 0): void {
        const tab = this.current;
        const changes = changesOf(tab.adql, fixes, offset);
        if (this.editor) this.editor.applyChanges(changes);
        else tab.adql = applyFixes(tab.adql, changes);
    }

    /** Show a job's result, or a table that another program sent. */
    showResult(source: Source, title: string): void {
        const same = source.kind === 'job' && this.tabs.find((tab) => isJob(tab.shown, source.id));
        if (same) return this.chooseTab(same.id);
        const tab = new QueryTab(newId(), source);
        [tab.title, tab.named] = [title, true];
        tab.restore();
        this.#addTab(tab);
    }

    /** Choose a tab and go to the query page. */
    chooseTab(id: string): void {
        this.currentId = id;
        this.#goToPage();
    }

    /** Go to a neighbouring tab. */
    stepTo(by: number): void {
        const at = this.tabs.indexOf(this.current) + by;
        this.chooseTab(this.tabs[(at + this.tabs.length) % this.tabs.length]!.id);
    }

    /** Close a tab and show its neighbour, or a new tab after the last one. */
    closeTab(id: string): void {
        const at = this.tabs.findIndex((tab) => tab.id === id);
        this.tabs[at]?.close();
        const rest = this.tabs.filter((tab) => tab.id !== id);
        this.tabs = rest.length > 0 ? rest : [this.#makeTab('')];
        if (this.currentId === id) this.currentId = this.tabs[Math.min(at, this.tabs.length - 1)]!.id;
    }

    renameTab(id: string, title: string): void {
        const tab = this.tabs.find((one) => one.id === id);
        if (!tab || !title.trim()) return;
        [tab.title, tab.named] = [title.trim(), true];
    }

    /** Return the state to keep; reactive. */
    currentState(): KeptTabs {
        const tabs = this.tabs.map((tab) => tab.toKept()).filter((tab) => tab !== undefined);
        return { current: this.currentId, tabs };
    }

    /** Store the tabs in the browser. */
    keepTabs(state: KeptTabs = this.currentState()): void {
        this.unkept = !writeStored('tabs', state);
    }

    #makeTab(adql: string, title?: string): QueryTab {
        const tab = new QueryTab(newId());
        tab.adql = adql;
        tab.title = title ?? text.editor.untitled(this.#freeNumber());
        tab.named = title !== undefined;
        return tab;
    }

    #freeNumber(): number {
        const taken = this.tabs.map((tab) => tab.title);
        let number = 1;
        while (taken.includes(text.editor.untitled(number))) number += 1;
        return number;
    }

    #addTab(tab: QueryTab): void {
        this.tabs = [...this.tabs, tab];
        this.chooseTab(tab.id);
    }

    #goToPage(): void {
        if (router.route.page !== 'query') router.go('query');
    }
}

function isJob(source: Source | undefined, id: string): boolean {
    return source?.kind === 'job' && source.id === id;
}

export const queries = new QueryTabs();
provideQueryOpener(queries);
