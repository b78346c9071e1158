/** Files that the browser keeps over reloads, in IndexedDB. Nothing breaks where it keeps none (private windows). */

import type { Head } from './fileHead';
import type { Position } from './positionGuess';

export interface KeptFile {
    readonly name: string;
    readonly filename: string;
    readonly blob: Blob;
    readonly head: Head;
    readonly position: Position | undefined;
}

/** Bytes that are kept of all files together; larger ones live as long as the page. */
export const MAX_KEPT_BYTES = 64e6;

const STORE = 'files';

function openDatabase(): Promise<IDBDatabase> {
    return new Promise((resolve, reject) => {
        const request = indexedDB.open('skyhouse.uploads', 1);
        request.onupgradeneeded = () => request.result.createObjectStore(STORE);
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error ?? new Error('IndexedDB'));
    });
}

async function runTransaction<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    const database = await openDatabase();
    try {
        const transaction = database.transaction(STORE, mode);
        const request = work(transaction.objectStore(STORE));
        return await new Promise<T>((resolve, reject) => {
            transaction.oncomplete = () => resolve(request.result);
            transaction.onabort = transaction.onerror = () => reject(transaction.error ?? new Error('IndexedDB'));
        });
    } finally {
        database.close();
    }
}

/** The files of last time, in their order; none where the browser keeps nothing. */
export async function readKeptFiles(): Promise<KeptFile[]> {
    const files: KeptFile[][] = await runTransaction('readonly', (store) => store.getAll()).catch(() => []);
    return files.flat();
}

/** Keep these files and no others, in their order as far as there is room. The names of those that are kept. */
export async function keepFiles(files: readonly KeptFile[]): Promise<string[]> {
    let bytes = 0;
    const fitting = files.filter(({ blob }) => {
        const fits = bytes + blob.size <= MAX_KEPT_BYTES;
        if (fits) bytes += blob.size;
        return fits;
    });
    try {
        await runTransaction('readwrite', (store) => store.put(fitting, 'all'));
        return fitting.map(({ name }) => name);
    } catch {
        return [];
    }
}
