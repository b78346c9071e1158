/**
 * Files that the browser keeps across reloads, in IndexedDB. Without it (private windows) nothing is kept and nothing
 * breaks.
 */

import type { Head } from './fileHead';
import type { Position } from './positionGuess';

export interface KeptFile {
    readonly name: string;
    readonly filename: string;
    readonly blob: Blob;
    readonly head: Head;
    readonly position: Position | undefined;
}

/** Bytes kept for all files together; others live as long as the page. */
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

/** Return the kept files in order; none without storage. */
export async function readKeptFiles(): Promise<KeptFile[]> {
    const files: KeptFile[][] = await runTransaction('readonly', (store) => store.getAll()).catch(() => []);
    return files.flat();
}

/** Keep these files and no others, as far as there is room. Return the names of the kept ones. */
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
