/**
 * Items in the browser's storage, each under its own key: windows that write at the same time keep each other's
 * items. Without storage (private windows) items live as long as the page.
 */

import { PREFIX } from './storedValues';

/** The part of the browser's Storage that is used here. */
export type ItemStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

/** Items with one name, each identified by its id. */
export class StoredItems<Item extends { readonly id: string }> {
    readonly #list: string;
    readonly #prefix: string;

    /** `isItem` rejects values that other programs or versions have left. */
    constructor(
        name: string,
        readonly isItem: (value: unknown) => value is Item,
        readonly storage: () => ItemStorage = openStorage,
    ) {
        this.#list = PREFIX + name;
        this.#prefix = `${this.#list}.`;
    }

    /** Return all items, in no order. */
    readAll(): Item[] {
        this.#splitList();
        return [...this.#readTexts().values()].flatMap((text) => this.#parse(text));
    }

    /** Write an item. Return false if the browser has no room. */
    write(item: Item): boolean {
        return this.#writeText(item.id, JSON.stringify(item));
    }

    remove(id: string): void {
        this.storage().removeItem(this.#prefix + id);
    }

    /**
     * Change the items as they are now: write what differs, remove what is left out. Return the items after that,
     * including those that the browser has no room to store.
     */
    change(by: (all: readonly Item[]) => readonly Item[]): readonly Item[] {
        const before = this.readAll();
        const after = by(before);
        const ids = new Set(after.map(({ id }) => id));
        for (const { id } of before) if (!ids.has(id)) this.remove(id);
        for (const item of after) if (!before.includes(item)) this.write(item);
        return after;
    }

    /** Call `handle` after another window has changed an item. */
    listen(handle: () => void): void {
        window.addEventListener('storage', ({ key }) => {
            if (key === null || key === this.#list || key.startsWith(this.#prefix)) handle();
        });
    }

    #readTexts(): Map<string, string> {
        const storage = this.storage();
        const keys = Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? '');
        const own = keys.filter((key) => key.startsWith(this.#prefix));
        return new Map(own.map((key) => [key, storage.getItem(key) ?? '']));
    }

    #writeText(id: string, text: string): boolean {
        try {
            this.storage().setItem(this.#prefix + id, text);
            return true;
        } catch {
            return false;
        }
    }

    #parse(text: string): Item[] {
        try {
            const value: unknown = JSON.parse(text);
            return this.isItem(value) ? [value] : [];
        } catch {
            return [];
        }
    }

    /** Earlier versions kept all items in one list. */
    #splitList(): void {
        const text = this.storage().getItem(this.#list);
        if (text === null) return;
        this.storage().removeItem(this.#list);
        const list = parseList(text).filter(this.isItem);
        for (const item of list) if (this.storage().getItem(this.#prefix + item.id) === null) this.write(item);
    }
}

function parseList(text: string): unknown[] {
    try {
        const value: unknown = JSON.parse(text);
        return Array.isArray(value) ? value : [];
    } catch {
        return [];
    }
}

/** A storage that lives as long as the page. */
export class PageStorage implements ItemStorage {
    readonly #values = new Map<string, string>();

    get length(): number {
        return this.#values.size;
    }

    key(at: number): string | null {
        return [...this.#values.keys()][at] ?? null;
    }

    getItem(key: string): string | null {
        return this.#values.get(key) ?? null;
    }

    setItem(key: string, value: string): void {
        this.#values.set(key, value);
    }

    removeItem(key: string): void {
        this.#values.delete(key);
    }
}

const pageStorage = new PageStorage();

/** Return the browser's storage, or one that lives as long as the page. */
export function openStorage(): ItemStorage {
    try {
        return localStorage ?? pageStorage;
    } catch {
        return pageStorage;
    }
}

/** Whether values outlive the page. */
export const isLasting = (storage: ItemStorage): boolean => storage !== pageStorage;
