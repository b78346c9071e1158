/** The user's files, which queries may upload. The service reads them. */

import { text } from '../text';
import { service } from '../tap/serviceInfo.svelte';
import { findElements } from '../tap/tapRequest';
import { newId } from '../browser/uniqueId';
import { forgetFile, keepFile, readKeptFiles, watchKeptFiles, type KeptFile } from './keptFiles';
import { headOf, headQuery, type Head } from './fileHead';
import { isTableName, tableNameOfFile } from '../adql/adqlNames';
import { guessPosition, type CandidateColumn, type Position } from './positionGuess';
import { queryJson } from './uploadRequest';
import { withUploadType, describeReadError } from '../tap/uploadType';

export type Reading =
    /** `part`: sent fraction, 0 to 1; at 1 the service reads the file */
    | { readonly phase: 'reading'; readonly part: number }
    | { readonly phase: 'ready'; readonly head: Head }
    | { readonly phase: 'failed'; readonly message: string };

export class UserFile {
    /** its name in TAP_UPLOAD */
    name = $state('');
    reading = $state.raw<Reading>({ phase: 'reading', part: 0 });
    position = $state.raw<Position | undefined>();
    #stopper = new AbortController();

    constructor(
        name: string,
        readonly filename: string,
        /** its media type is the format for the service */
        readonly blob: Blob,
        readonly id = newId(),
    ) {
        this.name = name;
    }

    get head(): Head | undefined {
        return this.reading.phase === 'ready' ? this.reading.head : undefined;
    }

    /** The columns, with sample values from the first rows. */
    get columns(): readonly CandidateColumn[] {
        const head = this.head;
        return head?.fields.map((field, at) => ({ ...field, samples: head.rows.map((row) => row[at] ?? null) })) ?? [];
    }

    /** Send the file and read its head; `reading` holds the outcome. `most`: byte limit of the service. */
    async readHead(most: number | undefined): Promise<void> {
        const problem = this.blob.size === 0 ? text.uploads.empty : checkSize(this.blob.size, most);
        if (problem) return this.#failWith(problem);
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

    /** Read it again after a failure. */
    readAgain(most: number | undefined): Promise<void> {
        this.#stopper = new AbortController();
        this.reading = { phase: 'reading', part: 0 };
        return this.readHead(most);
    }

    /** Stop sending. */
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
    /** byte limit of one request; undefined until known */
    most = $state<number | undefined>();
    /** ids of files that will be gone after a reload */
    unkept = $state.raw<readonly string[]>([]);
    /** ids of files that the browser keeps */
    readonly #kept = new Set<string>();
    /** changes that are being written to the browser's storage */
    #writing = $state(0);
    /** settled when the kept files are restored */
    readonly restored: Promise<void>;

    constructor() {
        this.restored = this.#takeKept();
        watchKeptFiles(() => void this.#takeKept());
    }

    readonly ready: readonly UserFile[] = $derived(this.list.filter((file) => file.head));

    /** Whether a reload now might lose the last change. */
    get keeping(): boolean {
        return this.#writing > 0;
    }

    /** Add dropped or chosen files and read them one at a time. `name`: for a single file. Never raises. */
    async addFiles(chosen: Iterable<File>, name?: string): Promise<void> {
        await this.restored;
        const added: UserFile[] = [];
        for (const file of chosen) {
            const taken = [...this.list, ...added].map((other) => other.name);
            const own = name ?? tableNameOfFile(file.name, taken);
            added.push(new UserFile(own, file.name, await withUploadType(file)));
        }
        this.list = [...this.list, ...added];
        await this.loadLimit();
        for (const file of added) {
            await file.readHead(this.most);
            await this.keepFile(file);
        }
    }

    /** Load the service's upload limit once. Never raises. */
    async loadLimit(): Promise<void> {
        this.most ??= await loadUploadLimit();
    }

    findFile(name: string): UserFile | undefined {
        return this.list.find((file) => file.name.toLowerCase() === name.toLowerCase());
    }

    /** Rename a file. Return the reason if the name is not allowed, else ''. */
    renameFile(file: UserFile, name: string): string {
        if (name === file.name) return '';
        if (!isTableName(name)) return text.uploads.noName;
        const other = this.findFile(name);
        if (other && other !== file) return text.uploads.taken(name);
        file.name = name;
        void this.keepFile(file);
        return '';
    }

    removeFile(file: UserFile): void {
        file.stop();
        this.list = this.list.filter((other) => other !== file);
        this.#kept.delete(file.id);
        void this.#write(() => forgetFile(file.id));
    }

    /** Return the uploads of a query that uses these tables. */
    blobsOf(names: readonly string[]): Record<string, Blob> {
        const found = names.map((name) => this.findFile(name)).filter((file) => file !== undefined);
        return Object.fromEntries(found.map((file) => [file.name, file.blob]));
    }

    /** Keep a file in the browser if there is room, also after a change of its name or position. */
    async keepFile(file: UserFile): Promise<void> {
        const { id, name, filename, blob, head, position } = file;
        if (!head) return;
        const isKept = await this.#write(() => keepFile({ id, name, filename, blob, head, position }));
        if (!this.list.includes(file)) return void this.#write(() => forgetFile(id));
        if (isKept) this.#kept.add(id);
        this.unkept = [...this.unkept.filter((other) => other !== id), ...(isKept ? [] : [id])];
    }

    async #write(work: () => Promise<boolean>): Promise<boolean> {
        this.#writing += 1;
        const isDone = await work();
        this.#writing -= 1;
        return isDone;
    }

    /** Take over the kept files, which another window may have changed. */
    async #takeKept(): Promise<void> {
        const kept = await readKeptFiles();
        const ids = kept.map(({ id }) => id);
        const gone = [...this.#kept].filter((id) => !ids.includes(id));
        const added = kept.filter(({ id }) => !this.list.some((file) => file.id === id));
        for (const { id, name, position } of kept) {
            const there = this.list.find((file) => file.id === id);
            if (there) [there.name, there.position] = [name, position];
        }
        for (const id of gone) this.#kept.delete(id);
        for (const id of ids) this.#kept.add(id);
        if (gone.length + added.length === 0) return;
        this.list = [...this.list.filter(({ id }) => !gone.includes(id)), ...added.map(restoreFile)];
    }
}

function restoreFile({ id, name, filename, blob, head, position }: KeptFile): UserFile {
    const file = new UserFile(name, filename, blob, id);
    file.reading = { phase: 'ready', head };
    file.position = position;
    return file;
}

/** Load the byte limit of uploads from /capabilities; undefined if unknown. */
async function loadUploadLimit(): Promise<number | undefined> {
    const capabilities = await service.loadCapabilities().catch(() => undefined);
    const limit = capabilities && findElements(capabilities, 'uploadLimit')[0];
    const hard = limit && findElements(limit, 'hard').find((bytes) => bytes.getAttribute('unit') === 'byte');
    const bytes = Number(hard?.textContent);
    return bytes > 0 ? bytes : undefined;
}

export const files = new UserFiles();
