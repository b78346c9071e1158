/**
 * The tabs of all windows in the browser's storage, each a separate item. A window writes only the tabs that it has changed.
 * If two windows have changed the same tab, the later change of each part wins; a text that lost is kept among the
 * closed tabs.
 */

import { newId } from '../browser/uniqueId';
import { isLasting, openStorage, StoredItems, type ItemStorage } from '../browser/storedItems';
import { readStored, writeStored } from '../browser/storedValues';
import type { KeptTab } from './queryTab.svelte';

interface StoredTab {
    readonly id: string;
    readonly kept: KeptTab;
    /** tabs are sorted by it */
    readonly place: number;
    /** when it was last changed, in milliseconds since 1970; later than the version that it replaced */
    readonly edited: number;
    /** the window that wrote it */
    readonly by: string;
    /** `edited` of the version that it replaced; 0 if there is none */
    readonly after: number;
}

export interface ClosedTab {
    /** the id of the tab; a replaced text has a new one */
    readonly id: string;
    readonly kept: KeptTab;
    /** milliseconds since 1970 */
    readonly closed: number;
    /** the tab is open with another window's text */
    readonly replaced?: true;
}

/** What other windows have changed. */
export interface TabNews {
    /** new and changed tabs, in order */
    readonly changed: readonly KeptTab[];
    /** ids of closed tabs */
    readonly gone: readonly string[];
    /** the browser had room for all changes of this window */
    readonly kept: boolean;
}

const MAX_CLOSED = 20;
/** Key of the tab that was last current in any window. */
export const CURRENT = 'currentTab';

export class TabStore {
    readonly #tabs: StoredItems<StoredTab>;
    readonly #closed: StoredItems<ClosedTab>;
    /** the stored tabs as this window last read or wrote them */
    readonly #seen = new Map<string, StoredTab>();
    /** changes of this window that are not written yet */
    readonly #pending = new Map<string, { readonly kept: KeptTab; readonly edited: number }>();
    /** the tabs as they are in this window */
    readonly #noted = new Map<string, string>();
    #lastOrder = 0;

    /** `by` names this window; `now` returns milliseconds since 1970. */
    constructor(
        readonly by = newId(),
        readonly storage: () => ItemStorage = openStorage,
        readonly now: () => number = Date.now,
    ) {
        this.#tabs = new StoredItems('tab', isStoredTab, storage);
        this.#closed = new StoredItems('closed', isClosedTab, storage);
    }

    /** Call `handle` after another window has opened, changed or closed tabs. */
    listen(handle: () => void): void {
        this.#tabs.listen(handle);
        this.#closed.listen(handle);
    }

    /** Note the state of a tab in this window; `sync` writes it if it has changed. */
    noteTab(kept: KeptTab): void {
        const state = writeCanonically(kept);
        if (this.#noted.get(kept.id) === state) return;
        this.#noted.set(kept.id, state);
        this.#pending.set(kept.id, { kept, edited: this.now() });
    }

    /** Write this window's changes, and return the changes of others. */
    sync(): TabNews {
        const old = this.#takeOldTabs();
        const stored = this.#tabs.readAll().toSorted((one, other) => one.place - other.place);
        const ids = new Set(stored.map(({ id }) => id));
        const gone = [...this.#seen.keys()].filter((id) => !ids.has(id));
        for (const id of gone) this.#forgetTab(id);
        const changed = stored.filter((tab) => this.#isNews(tab)).map((tab) => this.#takeTab(tab));
        return { changed: [...changed, ...old], gone, kept: this.#writePending() };
    }

    /** Whether a tab is stored, as far as this window knows. */
    isStored(id: string): boolean {
        return this.#seen.has(id);
    }

    /** Store a tab again that another window has closed. */
    keepTab(kept: KeptTab): void {
        this.#pending.set(kept.id, { kept, edited: this.now() });
    }

    /** Remove a tab from all windows; it can be opened again unless it is empty. */
    closeTab(kept: KeptTab): void {
        this.noteTab(kept);
        const last = this.#pending.get(kept.id)?.kept ?? this.#seen.get(kept.id)?.kept;
        if (last && isWorthKeeping(last)) this.#keepClosed({ id: kept.id, kept: last, closed: this.now() });
        this.#tabs.remove(kept.id);
        for (const known of [this.#seen, this.#pending, this.#noted]) known.delete(kept.id);
    }

    /** Return the closed tabs, the last one first. */
    listClosed(): ClosedTab[] {
        return this.#closed.readAll().toSorted((one, other) => other.closed - one.closed);
    }

    /** Take a tab out of the closed ones. */
    reopenTab(id: string): KeptTab | undefined {
        const found = this.listClosed().find((one) => one.id === id);
        this.#closed.remove(id);
        return found?.kept;
    }

    forgetClosed(): void {
        this.#closed.change(() => []);
    }

    #isNews({ id, edited, by }: StoredTab): boolean {
        const seen = this.#seen.get(id);
        return !seen || seen.edited !== edited || seen.by !== by;
    }

    /** Merge a tab that another window has written with the changes of this window. */
    #takeTab(tab: StoredTab): KeptTab {
        const [seen, pending] = [this.#seen.get(tab.id), this.#pending.get(tab.id)];
        const [before, mine] = [seen?.kept, pending?.kept ?? seen?.kept];
        const isMineLater = pending !== undefined && pending.edited > tab.edited;
        const merged = pending ? mergeTabs(before, pending.kept, tab.kept, isMineLater) : tab.kept;
        // the other window wrote before it had read the last change of this one
        const isUnread = seen?.by === this.by && tab.after < seen.edited;
        const isMineNew = isUnread || mine?.adql !== before?.adql;
        if (mine && isMineNew && tab.kept.adql !== before?.adql) {
            for (const kept of [mine, tab.kept]) if (kept.adql !== merged.adql) this.#keepReplaced(kept);
        }
        this.#seen.set(tab.id, tab);
        this.#noted.set(tab.id, writeCanonically(merged));
        this.#lastOrder = Math.max(this.#lastOrder, tab.place);
        if (pending) this.#pending.set(tab.id, { ...pending, kept: merged });
        return merged;
    }

    /** Another window has closed the tab: a change that is not written yet is kept among the closed tabs. */
    #forgetTab(id: string): void {
        const pending = this.#pending.get(id);
        if (pending && pending.kept.adql !== this.#seen.get(id)?.kept.adql) this.#keepReplaced(pending.kept);
        this.#seen.delete(id);
        this.#pending.delete(id);
    }

    #writePending(): boolean {
        for (const [id, { kept, edited }] of this.#pending) {
            const seen = this.#seen.get(id);
            if (!seen || writeCanonically(seen.kept) !== writeCanonically(kept)) {
                const order = seen?.place ?? this.#nextOrder();
                const after = seen?.edited ?? 0;
                const tab = { id, kept, place: order, edited: Math.max(edited, after + 1), by: this.by, after };
                if (!this.#tabs.write(tab)) continue;
                this.#seen.set(id, tab);
                if (!seen) this.#closed.remove(id);
            }
            this.#pending.delete(id);
        }
        return this.#pending.size === 0 && isLasting(this.storage());
    }

    #nextOrder(): number {
        return (this.#lastOrder = Math.max(this.now(), this.#lastOrder + 1));
    }

    #keepReplaced(kept: KeptTab): void {
        if (!isWorthKeeping(kept)) return;
        const id = newId();
        this.#keepClosed({ id, kept: { ...kept, id }, closed: this.now(), replaced: true });
    }

    #keepClosed(tab: ClosedTab): void {
        this.#closed.change((all) => {
            const others = all.filter(({ id, kept }) => id !== tab.id && contentOf(kept) !== contentOf(tab.kept));
            return [tab, ...others].toSorted((one, other) => other.closed - one.closed).slice(0, MAX_CLOSED);
        });
    }

    /** Earlier versions kept all tabs in one value. */
    #takeOldTabs(): KeptTab[] {
        const old = readStored<{ tabs?: readonly KeptTab[]; current?: string } | null>('tabs', null, this.storage);
        if (!old) return [];
        writeStored('tabs', undefined, this.storage);
        if (old.current) writeStored(CURRENT, old.current, this.storage);
        const tabs = old.tabs?.filter((kept) => isKeptTab(kept) && !this.#noted.has(kept.id)) ?? [];
        for (const kept of tabs) this.noteTab(kept);
        return tabs;
    }
}

/** Merge two changes of a tab part by part; where both changed the same part, the later one wins. */
export function mergeTabs(before: KeptTab | undefined, mine: KeptTab, theirs: KeptTab, isMineLater: boolean): KeptTab {
    const [was, one, other] = [before, mine, theirs].map((kept) => new Map(Object.entries(kept ?? {})));
    const merged = [...new Set([...one!.keys(), ...other!.keys()])].map((part) => {
        const [old, my, their] = [was!, one!, other!].map((parts) => JSON.stringify(parts.get(part)));
        const isMine = their === old || (my !== old && isMineLater);
        return [part, (isMine ? one! : other!).get(part)] as const;
    });
    return Object.fromEntries(merged.filter(([, value]) => value !== undefined)) as unknown as KeptTab;
}

/** Write a tab as text: equal tabs give equal texts. */
function writeCanonically(kept: KeptTab): string {
    const parts = Object.entries(kept).filter(([, value]) => value !== undefined);
    return JSON.stringify(parts.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** What a closed tab is recognised by: its text, or its job's result. */
const contentOf = ({ adql, shows, job = '' }: KeptTab): string => (shows ? `job ${job}` : adql);

const isWorthKeeping = ({ adql, shows }: KeptTab): boolean => shows === true || adql.trim() !== '';

function isKeptTab(value: unknown): value is KeptTab {
    const one = value as Partial<KeptTab> | null;
    return typeof one?.id === 'string' && typeof one.adql === 'string' && typeof one.title === 'string';
}

function isStoredTab(value: unknown): value is StoredTab {
    const one = value as Partial<StoredTab> | null;
    return isKeptTab(one?.kept) && one.kept.id === one.id && typeof one.edited === 'number';
}

function isClosedTab(value: unknown): value is ClosedTab {
    const one = value as Partial<ClosedTab> | null;
    return isKeptTab(one?.kept) && one.kept.id === one.id && typeof one.closed === 'number';
}
