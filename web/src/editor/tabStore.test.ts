import { describe, expect, it } from 'vitest';
import { PageStorage } from '../browser/storedItems';
import type { KeptTab } from './queryTab.svelte';
import { mergeTabs, TabStore } from './tabStore';

let clock = 1000;
const keptTab = (id: string, adql: string, more: Partial<KeptTab> = {}): KeptTab => ({
    ...{ id, adql, title: `Query ${id}`, named: false, mode: 'auto', format: 'votable' },
    ...more,
});

/** Windows over one storage, each with the tabs that it shows. */
function openWindows(...names: string[]) {
    const storage = new PageStorage();
    const windows = names.map(
        (name) =>
            new TabStore(
                name,
                () => storage,
                () => (clock += 1),
            ),
    );
    return { storage, windows: windows as [TabStore, TabStore] };
}

/** Change a tab in a window and write it. */
function change(window: TabStore, kept: KeptTab) {
    window.noteTab(kept);
    return window.sync();
}

const storedTexts = (storage: PageStorage) =>
    new TabStore('reader', () => storage).sync().changed.map(({ id, adql }) => `${id}: ${adql}`);
const closedTexts = (window: TabStore) => window.listClosed().map(({ kept }) => kept.adql);

describe('tabs of two windows', () => {
    it('are kept by themselves, in the order in which they were opened', () => {
        const { storage, windows } = openWindows('A', 'B');
        const [one, other] = windows;
        change(one, keptTab('z', 'SELECT 1'));
        one.noteTab(keptTab('y', 'SELECT 2'));
        other.noteTab(keptTab('x', 'SELECT 3'));
        expect(other.sync().changed.map(({ id }) => id)).toEqual(['z']);
        expect(one.sync().changed.map(({ id }) => id)).toEqual(['x']);
        expect(storedTexts(storage)).toEqual(['z: SELECT 1', 'x: SELECT 3', 'y: SELECT 2']);
        expect(one.sync()).toEqual({ changed: [], gone: [], kept: true });
        expect(other.sync().changed.map(({ id }) => id)).toEqual(['y']);
    });

    it('see changes, renames and closes, and do not write what they have only read', () => {
        const { storage, windows } = openWindows('A', 'B');
        const [one, other] = windows;
        change(one, keptTab('a', 'SELECT 1'));
        other.sync();
        other.noteTab(keptTab('a', 'SELECT 1'));
        const before = storage.getItem('skyhouse.tab.a');
        other.sync();
        expect(storage.getItem('skyhouse.tab.a')).toBe(before);
        change(other, keptTab('a', 'SELECT 12', { title: 'Mine', named: true }));
        expect(one.sync().changed).toEqual([keptTab('a', 'SELECT 12', { title: 'Mine', named: true })]);
        other.closeTab(keptTab('a', 'SELECT 12', { title: 'Mine', named: true }));
        expect(one.sync().gone).toEqual(['a']);
        expect(closedTexts(one)).toEqual(['SELECT 12']);
    });

    it('changed in both: the later text wins, the other can be opened again', () => {
        const { storage, windows } = openWindows('A', 'B');
        const [one, other] = windows;
        change(one, keptTab('a', 'SELECT 1'));
        other.sync();
        one.noteTab(keptTab('a', 'SELECT one'));
        other.noteTab(keptTab('a', 'SELECT other'));
        expect(one.sync().changed).toEqual([]);
        expect(other.sync().changed).toEqual([keptTab('a', 'SELECT other')]);
        expect(one.sync().changed).toEqual([keptTab('a', 'SELECT other')]);
        expect(storedTexts(storage)).toEqual(['a: SELECT other']);
        expect(closedTexts(one)).toEqual(['SELECT one']);
        expect(one.listClosed()[0]?.replaced).toBe(true);
        // the earlier text is a separate tab when it is opened again
        const again = one.reopenTab(one.listClosed()[0]!.id)!;
        change(one, again);
        expect(storedTexts(storage)).toEqual(['a: SELECT other', `${again.id}: SELECT one`]);
        expect(one.listClosed()).toEqual([]);
    });

    it('written at the same moment lose neither text', () => {
        const { storage, windows } = openWindows('A', 'B');
        const [one, other] = windows;
        change(one, keptTab('a', 'SELECT 1'));
        other.sync();
        const read = storage.getItem('skyhouse.tab.a')!;
        change(one, keptTab('a', 'SELECT one'));
        // the browser has not told the other process yet
        storage.setItem('skyhouse.tab.a', read);
        change(other, keptTab('a', 'SELECT other'));
        expect(one.sync().changed).toEqual([keptTab('a', 'SELECT other')]);
        expect(closedTexts(one)).toEqual(['SELECT one']);
        expect(other.sync().changed).toEqual([]);
    });

    it('a window that slept neither opens closed tabs again nor replaces newer texts', () => {
        const { storage, windows } = openWindows('A', 'B');
        const [sleeper, other] = windows;
        for (const id of ['a', 'b', 'c']) change(sleeper, keptTab(id, `SELECT ${id}`));
        other.sync();
        // typed just before it fell asleep
        sleeper.noteTab(keptTab('b', 'SELECT b, typed'));
        sleeper.noteTab(keptTab('c', 'SELECT c, typed'));
        other.closeTab(keptTab('a', 'SELECT a'));
        change(other, keptTab('b', 'SELECT b, newer'));
        other.closeTab(keptTab('c', 'SELECT c'));
        const news = sleeper.sync();
        expect(news.gone).toEqual(['a', 'c']);
        expect(news.changed).toEqual([keptTab('b', 'SELECT b, newer')]);
        // as the page notes its tabs again
        for (const [id, adql] of [
            ['a', 'SELECT a'],
            ['c', 'SELECT c, typed'],
        ] as const)
            change(sleeper, keptTab(id, adql));
        expect(storedTexts(storage)).toEqual(['b: SELECT b, newer']);
        expect(closedTexts(sleeper).toSorted()).toEqual(['SELECT a', 'SELECT b, typed', 'SELECT c', 'SELECT c, typed']);
        // but who goes on with a closed tab has it again
        change(sleeper, keptTab('a', 'SELECT a, more'));
        expect(storedTexts(storage)).toEqual(['b: SELECT b, newer', 'a: SELECT a, more']);
        expect(closedTexts(sleeper)).not.toContain('SELECT a');
    });
});

describe('a merge', () => {
    it('takes the changes of both, and the later of two changes of one part', () => {
        const before = keptTab('a', 'SELECT 1', { maxrec: 5, job: 'old' });
        const mine = keptTab('a', 'SELECT mine', { maxrec: 5 });
        const theirs = keptTab('a', 'SELECT theirs', { job: 'old', title: 'Theirs' });
        expect(mergeTabs(before, mine, theirs, true)).toEqual(keptTab('a', 'SELECT mine', { title: 'Theirs' }));
        expect(mergeTabs(before, mine, theirs, false)).toEqual(keptTab('a', 'SELECT theirs', { title: 'Theirs' }));
    });
});

describe('closed tabs', () => {
    it('come back with text, settings and job, each once, the last twenty', () => {
        const { windows } = openWindows('A');
        const [one] = windows;
        const full = keptTab('a', 'SELECT a', { maxrec: 7, format: 'csv', job: 'j1' });
        change(one, full);
        one.closeTab(full);
        expect(one.reopenTab('a')).toEqual(full);
        expect(one.reopenTab('a')).toBe(undefined);
        for (let at = 0; at < 30; at++) one.closeTab(keptTab(`t${at}`, `SELECT ${at}`));
        one.closeTab(keptTab('same', 'SELECT 29'));
        one.closeTab(keptTab('empty', ' \n'));
        const closed = closedTexts(one);
        expect(closed).toHaveLength(20);
        expect(closed.slice(0, 2)).toEqual(['SELECT 29', 'SELECT 28']);
        one.forgetClosed();
        expect(one.listClosed()).toEqual([]);
    });
});

describe('the storage', () => {
    it('takes over the tabs of an earlier version, once', () => {
        const { storage, windows } = openWindows('A', 'B');
        const tabs = [keptTab('b', 'SELECT b'), keptTab('a', 'SELECT a'), null];
        storage.setItem('skyhouse.tabs', JSON.stringify({ current: 'a', tabs }));
        expect(windows[0].sync().changed.map(({ id }) => id)).toEqual(['b', 'a']);
        expect(windows[0].sync().changed).toEqual([]);
        expect(storage.getItem('skyhouse.tabs')).toBe(null);
        expect(storage.getItem('skyhouse.currentTab')).toBe('"a"');
        expect(windows[1].sync().changed.map(({ id }) => id)).toEqual(['b', 'a']);
    });

    it('without room: the tabs are reported, and written as soon as there is room', () => {
        const { storage, windows } = openWindows('A');
        const { setItem } = PageStorage.prototype;
        storage.setItem = () => {
            throw new DOMException('full', 'QuotaExceededError');
        };
        expect(change(windows[0], keptTab('a', 'SELECT 1')).kept).toBe(false);
        storage.setItem = (key, value) => setItem.call(storage, key, value);
        expect(windows[0].sync().kept).toBe(true);
        expect(storedTexts(storage)).toEqual(['a: SELECT 1']);
    });

    it('that is damaged loses only what is damaged', () => {
        const { storage, windows } = openWindows('A');
        change(windows[0], keptTab('a', 'SELECT 1'));
        storage.setItem('skyhouse.tab.b', '{"id": "b", "kept"');
        storage.setItem('skyhouse.tab.c', '{"id": "c", "edited": 3}');
        expect(storedTexts(storage)).toEqual(['a: SELECT 1']);
    });
});
