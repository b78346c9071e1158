/**
 * Files that the browser keeps across reloads, in IndexedDB, each by itself: windows keep each other's files. Without it
 * (private windows) nothing is kept and nothing breaks.
 */

import { newId } from '../browser/uniqueId';
import type { Head } from './fileHead';
import type { Position } from './positionGuess';

export interface KeptFile {
    readonly id: string;
    readonly name: string;
    readonly filename: string;
    readonly blob: Blob;
    readonly head: Head;
    readonly position: Position | undefined;
}

/** Bytes kept for all files together; others live as long as the page. */
const MAX_KEPT_BYTES = 64e6;

const STORE = 'files';
const LIST = 'all';
const channel = typeof indexedDB === 'undefined' ? undefined : new BroadcastChannel('skyhouse.uploads');

let opened: Promise<IDBDatabase> | undefined;
const forget = () => (opened = undefined);

/** Open the database once. It stays open, so that a change is written before a reload can abandon it. */
function openDatabase(): Promise<IDBDatabase> {
    opened ??= new Promise<IDBDatabase>((resolve, reject) => {
        const request = indexedDB.open('skyhouse.uploads', 1);
        request.onupgradeneeded = () => request.result.createObjectStore(STORE);
        request.onsuccess = () => {
            const database = request.result;
            database.onclose = forget;
            database.onversionchange = () => {
                database.close();
                forget();
            };
            resolve(database);
        };
        request.onerror = () => reject(request.error ?? new Error('IndexedDB'));
    }).catch((error: unknown) => {
        forget();
        throw error;
    });
    return opened;
}

async function runTransaction<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    const transaction = (await openDatabase()).transaction(STORE, mode);
    const request = work(transaction.objectStore(STORE));
    transaction.commit();
    return new Promise<T>((resolve, reject) => {
        transaction.oncomplete = () => resolve(request.result);
        transaction.onabort = transaction.onerror = () => reject(transaction.error ?? new Error('IndexedDB'));
    });
}

/** Return the kept files in order; none without storage. */
export async function readKeptFiles(): Promise<KeptFile[]> {
    try {
        await splitList();
        const files: KeptFile[] = await runTransaction('readonly', (store) => store.getAll());
        return files.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    } catch {
        return [];
    }
}

/** Keep a file if there is room. Return whether it is kept. */
export async function keepFile(file: KeptFile): Promise<boolean> {
    const others = (await readKeptFiles()).filter(({ id }) => id !== file.id);
    if (others.reduce((sum, { blob }) => sum + blob.size, file.blob.size) > MAX_KEPT_BYTES) return false;
    return tryChange((store) => store.put(file, file.id));
}

export const forgetFile = (id: string): Promise<boolean> => tryChange((store) => store.delete(id));

/** Call `handle` after another window has changed the files. */
export function watchKeptFiles(handle: () => void): void {
    channel?.addEventListener('message', handle);
}

async function tryChange(work: (store: IDBObjectStore) => IDBRequest): Promise<boolean> {
    try {
        await runTransaction('readwrite', work);
        channel?.postMessage('changed');
        return true;
    } catch {
        return false;
    }
}

/** Earlier versions kept all files in one list. */
async function splitList(): Promise<void> {
    const list: Omit<KeptFile, 'id'>[] | undefined = await runTransaction('readonly', (store) => store.get(LIST));
    if (!list) return;
    await runTransaction('readwrite', (store) => {
        for (const file of list) {
            const id = newId();
            store.put({ ...file, id }, id);
        }
        return store.delete(LIST);
    });
}
