/** The user's files: what queries of this page may upload. The service reads them; here is what it said. */

import { text } from '../text';
import { service } from '../tap/serviceInfo.svelte';
import { findElements } from '../tap/tapRequest';
import { keepFiles, readKeptFiles } from './keptFiles';
import { headOf, headQuery, type Head } from './fileHead';
import { isTableName, tableNameOfFile } from '../adql/identifiers';
import { guessPosition, type CandidateColumn, type Position } from './positionGuess';
import { queryJson } from './uploadRequest';
import { withUploadType, describeReadError } from '../tap/uploadType';

export type Reading =
    /** `part` of it is sent, 0 to 1; then the service reads */
    | { readonly phase: 'reading'; readonly part: number }
    | { readonly phase: 'ready'; readonly head: Head }
    | { readonly phase: 'failed'; readonly message: string };

export class UserFile {
    /** TAP_UPLOAD's name */
    name = $state('');
    reading = $state.raw<Reading>({ phase: 'reading', part: 0 });
    position = $state.raw<Position | undefined>();
    #stopper = new AbortController();

    constructor(
        name: string,
        readonly filename: string,
        /** of a type that the service reads it by */
        readonly blob: Blob,
    ) {
        this.name = name;
    }

    get head(): Head | undefined {
        return this.reading.phase === 'ready' ? this.reading.head : undefined;
    }

    /** The columns, with the values of the first rows. */
    get columns(): readonly CandidateColumn[] {
        const head = this.head;
        return head?.fields.map((field, at) => ({ ...field, samples: head.rows.map((row) => row[at] ?? null) })) ?? [];
    }

    /** Send it and learn its columns; what is wrong is its `reading` then. `most`: bytes that the service takes. */
    async readHead(most: number | undefined): Promise<void> {
        const fault = this.blob.size === 0 ? text.uploads.empty : checkSize(this.blob.size, most);
        if (fault) return this.#failWith(fault);
        const { signal } = this.#stopper;
        const onProgress = (part: number) => (this.reading = { phase: 'reading', part });
        try {
            const head = headOf(
                await queryJson(headQuery(this.name), { [this.name]: this.blob }, { signal, onProgress }),
            );
            this.reading = { phase: 'ready', head };
            this.position = guessPosition(this.columns);
        } catch (error) {
            this.#failWith(signal.aborted ? text.uploads.stopped : await describeReadError(error as Error, this));
        }
    }

    /** Read it once more, after a failure. */
    readAgain(most: number | undefined): Promise<void> {
        this.#stopper = new AbortController();
        this.reading = { phase: 'reading', part: 0 };
        return this.readHead(most);
    }

    /** Send no more of it. */
    stop(): void {
        this.#stopper.abort();
    }

    #failWith(message: string): void {
        this.reading = { phase: 'failed', message };
    }
}

const checkSize = (size: number, most: number | undefined): string =>
    most !== undefined && size > most ? text.uploads.tooLarge(size, most) : '';

class UserFiles {
    list = $state.raw<readonly UserFile[]>([]);
    /** bytes that the service takes in one request; undefined until it has said so */
    most = $state<number | undefined>();
    /** names of the files that will be gone after a reload */
    unkept = $state.raw<readonly string[]>([]);
    /** settled when the files of last time are there */
    readonly restored: Promise<void>;

    constructor() {
        this.restored = this.#restoreFiles();
    }

    readonly ready: readonly UserFile[] = $derived(this.list.filter((file) => file.head));

    /** Files that were dropped or chosen: read one after the other. Never raises. */
    async addFiles(chosen: Iterable<File>): Promise<void> {
        await this.restored;
        const added: UserFile[] = [];
        for (const file of chosen) {
            const taken = [...this.list, ...added].map((other) => other.name);
            added.push(new UserFile(tableNameOfFile(file.name, taken), file.name, await withUploadType(file)));
        }
        this.list = [...this.list, ...added];
        await this.loadLimit();
        for (const file of added) await file.readHead(this.most);
        await this.keepFiles();
    }

    /** Learn how much the service takes, unless it is known. Never raises. */
    async loadLimit(): Promise<void> {
        this.most ??= await loadUploadLimit();
    }

    findFile(name: string): UserFile | undefined {
        return this.list.find((file) => file.name.toLowerCase() === name.toLowerCase());
    }

    /** Give a file another name; the reason if it cannot have it, else ''. */
    renameFile(file: UserFile, name: string): string {
        if (name === file.name) return '';
        if (!isTableName(name)) return text.uploads.noName;
        const other = this.findFile(name);
        if (other && other !== file) return text.uploads.taken(name);
        file.name = name;
        void this.keepFiles();
        return '';
    }

    removeFile(file: UserFile): void {
        file.stop();
        this.list = this.list.filter((other) => other !== file);
        void this.keepFiles();
    }

    /** What a query that uses these tables has to send. */
    blobsOf(names: readonly string[]): Record<string, Blob> {
        const found = names.map((name) => this.findFile(name)).filter((file) => file !== undefined);
        return Object.fromEntries(found.map((file) => [file.name, file.blob]));
    }

    /** Keep the files in the browser, those for which there is room. */
    async keepFiles(): Promise<void> {
        const kept = this.list.flatMap(({ name, filename, blob, head, position }) =>
            head ? [{ name, filename, blob, head, position }] : [],
        );
        const names = await keepFiles(kept);
        this.unkept = kept.map(({ name }) => name).filter((name) => !names.includes(name));
    }

    async #restoreFiles(): Promise<void> {
        this.list = (await readKeptFiles()).map(({ name, filename, blob, head, position }) => {
            const file = new UserFile(name, filename, blob);
            file.reading = { phase: 'ready', head };
            file.position = position;
            return file;
        });
    }
}

/** What /capabilities says that a request may upload, in bytes; undefined where it does not, or cannot be asked. */
async function loadUploadLimit(): Promise<number | undefined> {
    const capabilities = await service.loadCapabilities().catch(() => undefined);
    const limit = capabilities && findElements(capabilities, 'uploadLimit')[0];
    const hard = limit && findElements(limit, 'hard').find((bytes) => bytes.getAttribute('unit') === 'byte');
    const bytes = Number(hard?.textContent);
    return bytes > 0 ? bytes : undefined;
}

export const files = new UserFiles();
