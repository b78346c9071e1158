import { describe, expect, it } from 'vitest';
import { PageStorage, StoredItems } from './storedItems';

interface Note {
    readonly id: string;
    readonly words: string;
}

const isNote = (value: unknown): value is Note => typeof (value as Note | null)?.words === 'string';
const openNotes = (storage: PageStorage) => new StoredItems<Note>('notes', isNote, () => storage);
const sorted = (items: readonly Note[]) => items.map(({ id, words }) => `${id}: ${words}`).toSorted();

describe('stored items', () => {
    it('of two windows survive', () => {
        const storage = new PageStorage();
        const [one, other] = [openNotes(storage), openNotes(storage)];
        one.write({ id: 'a', words: 'first' });
        // the other window writes while this one holds the list as it was
        one.change((all) => {
            other.change((present) => [...present, { id: 'b', words: 'second' }]);
            return [...all, { id: 'c', words: 'third' }];
        });
        expect(sorted(one.readAll())).toEqual(['a: first', 'b: second', 'c: third']);
    });

    it('are removed if a change leaves them out, and rewritten only if it replaces them', () => {
        const storage = new PageStorage();
        const notes = openNotes(storage);
        const [kept, changed] = [
            { id: 'a', words: 'kept' },
            { id: 'b', words: 'old' },
        ];
        for (const note of [kept, changed, { id: 'c', words: 'removed' }]) notes.write(note);
        const written: string[] = [];
        const { setItem } = PageStorage.prototype;
        storage.setItem = (key, value) => (written.push(key), setItem.call(storage, key, value));
        notes.change((all) =>
            all.filter(({ id }) => id !== 'c').map((one) => (one.id === 'b' ? { ...one, words: 'new' } : one)),
        );
        expect(written).toEqual(['skyhouse.notes.b']);
        expect(sorted(notes.readAll())).toEqual(['a: kept', 'b: new']);
    });

    it('are taken from the list of an earlier version, once', () => {
        const storage = new PageStorage();
        const notes = openNotes(storage);
        notes.write({ id: 'a', words: 'newer' });
        const list = [{ id: 'a', words: 'older' }, { id: 'b', words: 'second' }, 'no note', null];
        storage.setItem('skyhouse.notes', JSON.stringify(list));
        expect(sorted(notes.readAll())).toEqual(['a: newer', 'b: second']);
        notes.remove('b');
        expect(sorted(notes.readAll())).toEqual(['a: newer']);
    });

    it('that are damaged or of another shape are skipped', () => {
        const storage = new PageStorage();
        for (const [at, text] of ['{', '3', 'null', '{"words": 1}'].entries())
            storage.setItem(`skyhouse.notes.${at}`, text);
        storage.setItem('skyhouse.notesOfOthers.x', '{"id": "x", "words": "other"}');
        expect(openNotes(storage).readAll()).toEqual([]);
    });

    it('that do not fit are reported', () => {
        const storage = new PageStorage();
        storage.setItem = () => {
            throw new DOMException('full', 'QuotaExceededError');
        };
        expect(openNotes(storage).write({ id: 'a', words: 'x' })).toBe(false);
        expect(openNotes(storage).change(() => [{ id: 'a', words: 'x' }])).toHaveLength(1);
    });
});
