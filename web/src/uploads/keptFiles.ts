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
