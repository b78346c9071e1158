/** How the rows come: the request, its decoding, and what the page is told meanwhile. */

import { BrokenOff, ByteReader } from '../decode/byteReader';
import { pieces } from '../decode/decodeResult';
import { Unreadable, type Piece } from '../decode/decodedPiece';
import type { Bytes } from '../model/columnParts';
import type { ArrangedRows } from './arrangedRows';
import type { Failure, News, Progress, Wanted } from './workerMessages';

/** Milliseconds between two words about rows that have come. */
const BETWEEN = 200;

/** More rows than any service gives: its own limit counts. */
const MOST_ROWS = 1_000_000_000;

/** An answer that is no result. */
class Refused extends Error {
    constructor(readonly failure: Failure) {
        super(failure.reason);
    }
}

export class Loading {
    #store: ArrangedRows;
    #tell: (news: News) => void;
    #abort = new AbortController();
    #version = 0;
    #told = -Infinity;
    #arranged = { at: 0, took: 0 };
    #reader: ByteReader | undefined;
    #asUpload = false;
    #status: { value: string; text: string } | undefined;

    constructor(store: ArrangedRows, tell: (news: News) => void) {
        this.#store = store;
        this.#tell = tell;
    }

    /** Load all rows; how it ends is told, not thrown. */
    async open(wanted: Wanted): Promise<void> {
        try {
            await this.#load(wanted);
            this.#finish();
        } catch (error) {
            this.#arrangeAll();
            this.#tell({ news: 'failed', failure: this.#failure(error) });
        }
    }

    stop(): undefined {
        this.#abort.abort();
    }

    progress(changed: boolean): Progress {
        if (changed) this.#version++;
        const { rows, shown } = this.#store;
        return { rows, shown, version: this.#version, bytes: this.#reader?.read ?? 0 };
    }

    async #load(wanted: Wanted): Promise<void> {
        try {
            await this.#read(await this.#stream(wanted));
        } catch (error) {
            const isAsked = 'form' in wanted.from;
            if (!(error instanceof Unreadable) || isAsked || this.#store.rows) throw error;
            await this.#readByService(wanted);
        }
    }

    async #read(stream: ReadableStream<Bytes>): Promise<void> {
        this.#reader = new ByteReader(stream);
        for await (const piece of pieces(this.#reader)) await this.#take(piece);
    }

    /** What the page cannot read, the service can: as an upload, which it gives back as Arrow. */
    async #readByService(wanted: Wanted): Promise<void> {
        const { from } = wanted;
        const file =
            'file' in from ? from.file : 'url' in from ? await (await this.#fetch(wanted, from.url)).blob() : undefined;
        if (!file) return;
        const form: [string, string][] = [
            ['LANG', 'ADQL'],
            ['FORMAT', 'arrow'],
            ['MAXREC', String(MOST_ROWS)],
            ['QUERY', 'SELECT * FROM TAP_UPLOAD.t'],
            ['UPLOAD', 't,param:file0'],
        ];
        this.#asUpload = true;
        const answer = await this.#post(wanted, form, { file0: file });
        await this.#read(answer.body as ReadableStream<Bytes>);
    }

    async #stream(wanted: Wanted): Promise<ReadableStream<Bytes>> {
        const { from } = wanted;
        if ('file' in from) return from.file.stream() as ReadableStream<Bytes>;
        const answer =
            'url' in from ? await this.#fetch(wanted, from.url) : await this.#post(wanted, from.form, from.files);
        return answer.body as ReadableStream<Bytes>;
    }

    #post(wanted: Wanted, form: readonly [string, string][], files: Readonly<Record<string, Blob>>): Promise<Response> {
        const names = Object.keys(files);
        const body = names.length ? new FormData() : new URLSearchParams();
        for (const [name, value] of form) body.append(name, value);
        if (body instanceof FormData) for (const name of names) body.append(name, files[name]!);
        return this.#fetch(wanted, wanted.sync, { method: 'POST', body });
    }

    async #fetch(wanted: Wanted, url: string, request: RequestInit = {}): Promise<Response> {
        const headers: Record<string, string> = wanted.authorization ? { Authorization: wanted.authorization } : {};
        const { signal } = this.#abort;
        // 'omit': the browser's own box for passwords would come up at a 401
        const answer = await fetch(url, { ...request, headers, signal, credentials: 'omit' }).catch(
            (error: unknown) => {
                if (signal.aborted) throw error;
                throw new Refused({ reason: 'no answer' });
            },
        );
        if (answer.ok && answer.body) return answer;
        throw new Refused({ reason: 'refused', status: answer.status, body: await answer.text() });
    }

    async #take(piece: Piece): Promise<void> {
        if (piece.type === 'fields') {
            this.#store.begin(piece.fields);
            this.#tell({ news: 'fields', fields: piece.fields, about: piece.about, asUpload: this.#asUpload });
        } else if (piece.type === 'status') this.#status = piece;
        else {
            this.#store.addBatch(piece.length, piece.parts);
            if (performance.now() - this.#told >= BETWEEN) await this.#tellRows();
        }
    }

    async #tellRows(): Promise<void> {
        // what is sorted is sorted again now and then, not to spend more time with it than with the rows
        const due = performance.now() - this.#arranged.at > 4 * this.#arranged.took + BETWEEN;
        if (this.#store.isArranged && due) this.#arrangeAll();
        else this.#tell({ news: 'rows', ...this.progress(!this.#store.isArranged) });
        this.#told = performance.now();
        // let questions in
        await new Promise((resolve) => setTimeout(resolve));
    }

    #arrangeAll(): void {
        const start = performance.now();
        this.#store.arrange();
        this.#arranged = { at: performance.now(), took: performance.now() - start };
        this.#tell({ news: 'rows', ...this.progress(true) });
    }

    #finish(): void {
        this.#arrangeAll();
        if (this.#status?.value === 'ERROR')
            this.#tell({ news: 'failed', failure: { reason: 'service', message: this.#status.text } });
        else if (!this.#status) this.#tell({ news: 'failed', failure: { reason: 'broken off' } });
        else
            this.#tell({
                news: 'complete',
                overflow: this.#status.value === 'OVERFLOW' ? this.#status.text : undefined,
            });
    }

    #failure(error: unknown): Failure {
        if (this.#abort.signal.aborted) return { reason: 'stopped' };
        if (error instanceof Refused) return error.failure;
        if (error instanceof Unreadable) return { reason: 'unreadable', what: error.message };
        if (error instanceof RangeError) return { reason: 'memory' };
        if (error instanceof BrokenOff || error instanceof TypeError) return { reason: 'broken off' };
        throw error;
    }
}
