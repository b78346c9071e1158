/** The tabs of the query page, kept in the browser. All pages open queries and results through this. */

import { readStored, writeStored } from '../browser/storedValues';
import { provideQueryOpener, type OpenOptions, type QueryOpener } from '../model/queryOpener';
import type { Source } from '../model/resultModel';
import { router } from '../browser/router.svelte';
import type { Fix, QueryError } from '../tap/estimateClient';
import { text } from '../text';
import { applyFixes, changesOf, type TextChange } from './queryFixes';
import { newId } from '../browser/uniqueId';
import { QueryTab } from './queryTab.svelte';
import { CURRENT, TabStore, type ClosedTab } from './tabStore';

/** What the editor offers the tabs. */
export interface EditorHandle {
    insertText(text: string): void;
    replaceText(adql: string): void;
    applyChanges(changes: readonly TextChange[]): void;
    goTo(error: QueryError, offset?: number): void;
    closeCompletions(): void;
    focus(): void;
}

const sessionStore = () => sessionStorage;

export class QueryTabs implements QueryOpener {
    tabs = $state.raw<readonly QueryTab[]>([]);
    currentId = $state('');
    readonly current: QueryTab = $derived(this.tabs.find((tab) => tab.id === this.currentId) ?? this.tabs[0]!);
    /** the browser has no room to keep the tabs */
    unkept = $state(false);
    /** the last one first */
    closed = $state.raw<readonly ClosedTab[]>([]);
    /** the editor of the current tab, once it is loaded */
    editor: EditorHandle | undefined;
    readonly #store = new TabStore();
    /** files that came with closed tabs */
    // eslint-disable-next-line svelte/prefer-svelte-reactivity -- nothing shows it
    readonly #closedFiles = new Map<string, Record<string, Blob>>();

    constructor() {
        this.syncTabs();
        this.#fillEmpty();
        const last = [readStored(CURRENT, '', sessionStore), readStored(CURRENT, '')];
        const current = last.find((id) => this.tabs.some((tab) => tab.id === id));
        this.currentId = current ?? this.tabs.at(-1)!.id;
        this.#store.listen(() => this.syncTabs());
        // changes of other windows while this one was suspended
        for (const event of ['pageshow', 'focus']) window.addEventListener(event, () => this.syncTabs());
    }

    /** Open a query in a new tab and show the tab; `run` starts the query. */
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
    showResult(source: Source, title: string, layout = ''): void {
        const same = source.kind === 'job' && this.tabs.find((tab) => isJob(tab.shown, source.id));
        if (same) return this.chooseTab(same.id);
        const tab = new QueryTab(newId(), source);
        [tab.title, tab.named, tab.layout] = [title, true, layout];
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
        this.syncTabs();
        const tab = this.tabs.find((one) => one.id === id);
        if (!tab) return;
        const kept = tab.toKept();
        if (kept) this.#store.closeTab(kept);
        if (Object.keys(tab.files).length > 0) this.#closedFiles.set(id, tab.files);
        this.closed = this.#store.listClosed();
        this.#dropTab(tab);
    }

    /** Open a closed tab again: the last one, unless `id` names another. */
    reopenTab(id = this.#findLastClosed()): void {
        if (id === undefined) return;
        const there = this.tabs.find((tab) => tab.id === id);
        if (there) {
            this.keepTab(there);
            return this.chooseTab(id);
        }
        const kept = this.#store.reopenTab(id);
        this.closed = this.#store.listClosed();
        if (!kept) return;
        const tab = QueryTab.fromKept(kept);
        tab.files = this.#closedFiles.get(id) ?? {};
        tab.lost = tab.lost.filter((name) => !(name in tab.files));
        this.#addTab(tab);
    }

    /** A tab that another window reopens arrives here before it leaves the list of closed ones. */
    #findLastClosed(): string | undefined {
        const isOpen = (id: string): boolean => this.tabs.some((tab) => tab.id === id && !tab.closedElsewhere);
        return this.closed.find(({ id }) => !isOpen(id))?.id;
    }

    /** Forget the closed tabs. */
    forgetClosed(): void {
        this.#store.forgetClosed();
        this.#closedFiles.clear();
        this.closed = [];
    }

    /** Keep a tab that another window has closed. */
    keepTab(tab: QueryTab): void {
        const kept = tab.toKept();
        if (kept) this.#store.keepTab(kept);
        tab.closedElsewhere = false;
        this.syncTabs();
    }

    renameTab(id: string, title: string): void {
        const tab = this.tabs.find((one) => one.id === id);
        if (!tab || !title.trim()) return;
        [tab.title, tab.named] = [title.trim(), true];
    }

    /** Note the state of all tabs, which `syncTabs` writes; reactive. */
    noteTabs(): void {
        for (const tab of this.tabs) {
            const kept = tab.toKept();
            if (kept) this.#store.noteTab(kept);
        }
        writeStored(CURRENT, this.currentId, sessionStore);
        writeStored(CURRENT, this.currentId);
    }

    /** Write the changes of this window, and show the changes of others. */
    syncTabs(): void {
        const { changed, gone, kept } = this.#store.sync();
        this.unkept = !kept;
        for (const id of gone) this.#handleGone(id);
        for (const tab of changed) {
            const there = this.tabs.find(({ id }) => id === tab.id);
            if (there) there.takeKept(tab);
            else this.tabs = [...this.tabs, QueryTab.fromKept(tab)];
        }
        for (const tab of this.tabs) if (this.#store.isStored(tab.id)) tab.closedElsewhere = false;
        this.closed = this.#store.listClosed();
    }

    /** Another window has closed a tab: it stays here while it is visible or running. */
    #handleGone(id: string): void {
        const tab = this.tabs.find((one) => one.id === id);
        if (!tab) return;
        if (id === this.currentId || tab.run?.active) tab.closedElsewhere = true;
        else this.#dropTab(tab);
    }

    #dropTab(tab: QueryTab): void {
        const at = this.tabs.indexOf(tab);
        tab.close();
        this.tabs = this.tabs.filter((one) => one !== tab);
        this.#fillEmpty();
        if (this.currentId === tab.id) this.currentId = this.tabs[Math.min(at, this.tabs.length - 1)]!.id;
    }

    #fillEmpty(): void {
        if (this.tabs.length === 0) this.tabs = [this.#makeTab(this.currentId ? '' : text.editor.firstQuery)];
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
