/** Loads a result in the worker: request, decoding, and progress reports to the page. */

import { BrokenOff, ByteReader } from '../decode/byteReader';
import { decodeResult } from '../decode/decodeResult';
import { Unreadable, type DecodedPiece } from '../decode/decodedPiece';
import type { Bytes } from '../model/columnParts';
import type { ArrangedRows } from './arrangedRows';
import type { Page } from '../model/resultModel';
import type { Failure, WorkerNews, Progress, LoadRequest } from './workerMessages';

/** Milliseconds between two progress reports. */
const REPORT_INTERVAL = 200;

/** Rows and columns that are sent with the first report. */
const FIRST_PAGE = { rows: 160, columns: 40 };

/** Above any service's hard limit, which then applies. */
const MAX_ROWS = 1_000_000_000;

/** An answer that is not a result. */
class ResultRefused extends Error {
    constructor(readonly failure: Failure) {
        super(failure.reason);
    }
}

export class ResultLoader {
    #store: ArrangedRows;
    #report: (news: WorkerNews) => void;
    #abort = new AbortController();
    #version = 0;
    #reportedAt = -Infinity;
    #arranged = { at: 0, took: 0 };
    #reader: ByteReader | undefined;
    #asUpload = false;
    #status: { value: string; text: string } | undefined;

    constructor(store: ArrangedRows, report: (news: WorkerNews) => void) {
        this.#store = store;
        this.#report = report;
    }

    /** Load all rows; the outcome is reported, not thrown. */
    async loadResult(wanted: LoadRequest): Promise<void> {
        try {
            await this.#loadRows(wanted);
            this.#reportEnd();
        } catch (error) {
            this.#arrangeAll();
            this.#report({ news: 'failed', failure: this.#failureOf(error) });
        }
    }

    stop(): undefined {
        this.#abort.abort();
    }

    reportProgress(changed: boolean): Progress {
        if (changed) this.#version++;
        const { rows, shown } = this.#store;
        return { rows, shown, version: this.#version, bytes: this.#reader?.read ?? 0 };
    }

    async #loadRows(wanted: LoadRequest): Promise<void> {
        try {
            await this.#readStream(await this.#openStream(wanted));
        } catch (error) {
            const isAsked = 'form' in wanted.from;
            if (!(error instanceof Unreadable) || isAsked || this.#store.rows) throw error;
            await this.#readByService(wanted);
        }
    }

    async #readStream(stream: ReadableStream<Bytes>): Promise<void> {
        this.#reader = new ByteReader(stream);
        for await (const piece of decodeResult(this.#reader)) await this.#takePiece(piece);
    }

    /** Let the service read a file that the page cannot: as an upload, returned as Arrow. */
    async #readByService(wanted: LoadRequest): Promise<void> {
        const { from } = wanted;
        const file =
            'file' in from
                ? from.file
                : 'url' in from
                  ? await (await this.#fetchAnswer(wanted, from.url)).blob()
                  : undefined;
        if (!file) return;
        const form: [string, string][] = [
            ['LANG', 'ADQL'],
            ['HISTORY', 'false'], // the user has not asked this
            ['FORMAT', 'arrow'],
            ['MAXREC', String(MAX_ROWS)],
            ['QUERY', 'SELECT * FROM TAP_UPLOAD.t'],
            ['UPLOAD', 't,param:file0'],
        ];
        this.#asUpload = true;
        const answer = await this.#postForm(wanted, form, { file0: file });
        await this.#readStream(answer.body as ReadableStream<Bytes>);
    }

    async #openStream(wanted: LoadRequest): Promise<ReadableStream<Bytes>> {
        const { from } = wanted;
        if ('file' in from) return from.file.stream() as ReadableStream<Bytes>;
        const answer =
            'url' in from
                ? await this.#fetchAnswer(wanted, from.url)
                : await this.#postForm(wanted, from.form, from.files);
        return answer.body as ReadableStream<Bytes>;
    }

    #postForm(
        wanted: LoadRequest,
        form: readonly [string, string][],
        files: Readonly<Record<string, Blob>>,
    ): Promise<Response> {
        const names = Object.keys(files);
        const body = names.length ? new FormData() : new URLSearchParams();
        for (const [name, value] of form) body.append(name, value);
        if (body instanceof FormData) for (const name of names) body.append(name, files[name]!);
        return this.#fetchAnswer(wanted, wanted.sync, { method: 'POST', body });
    }

    async #fetchAnswer(wanted: LoadRequest, url: string, request: RequestInit = {}): Promise<Response> {
        const headers: Record<string, string> = wanted.authorization ? { Authorization: wanted.authorization } : {};
        const { signal } = this.#abort;
        // 'omit': otherwise the browser opens its own password box at a 401
        const answer = await fetch(url, { ...request, headers, signal, credentials: 'omit' }).catch(
            (error: unknown) => {
                if (signal.aborted) throw error;
                throw new ResultRefused({ reason: 'no answer' });
            },
        );
        if (answer.ok && answer.body) return answer;
        throw new ResultRefused({ reason: 'refused', status: answer.status, body: await answer.text() });
    }

    async #takePiece(piece: DecodedPiece): Promise<void> {
        if (piece.type === 'fields') {
            this.#store.setFields(piece.fields);
            this.#report({ news: 'fields', fields: piece.fields, about: piece.about, asUpload: this.#asUpload });
        } else if (piece.type === 'status') this.#status = piece;
        else {
            this.#store.addBatch(piece.length, piece.parts);
            if (performance.now() - this.#reportedAt >= REPORT_INTERVAL) await this.#reportRows();
        }
    }

    async #reportRows(): Promise<void> {
        // sort again now and then, without spending more time on it than on loading
        const due = performance.now() - this.#arranged.at > 4 * this.#arranged.took + REPORT_INTERVAL;
        if (this.#store.isArranged && due) this.#arrangeAll();
        else this.#report({ news: 'rows', ...this.reportProgress(!this.#store.isArranged), ...this.#readFirstPage() });
        this.#reportedAt = performance.now();
        // let requests of the page in
        await new Promise((resolve) => setTimeout(resolve));
    }

    #readFirstPage(): { firstPage?: Page } {
        if (this.#reportedAt > -Infinity || this.#store.isArranged) return {};
        const columns = [...this.#store.fields.keys()].slice(0, FIRST_PAGE.columns);
        return { firstPage: this.#store.readPage(0, FIRST_PAGE.rows, columns) };
    }

    #arrangeAll(): void {
        const start = performance.now();
        this.#store.arrangeRows();
        this.#arranged = { at: performance.now(), took: performance.now() - start };
        this.#report({ news: 'rows', ...this.reportProgress(true) });
    }

    #reportEnd(): void {
        this.#arrangeAll();
        if (this.#status?.value === 'ERROR')
            this.#report({ news: 'failed', failure: { reason: 'service', message: this.#status.text } });
        else if (!this.#status) this.#report({ news: 'failed', failure: { reason: 'broken off' } });
        else
            this.#report({
                news: 'complete',
                overflow: this.#status.value === 'OVERFLOW' ? this.#status.text : undefined,
            });
    }

    #failureOf(error: unknown): Failure {
        if (this.#abort.signal.aborted) return { reason: 'stopped' };
        if (error instanceof ResultRefused) return error.failure;
        if (error instanceof Unreadable) return { reason: 'unreadable', what: error.message };
        if (error instanceof RangeError) return { reason: 'memory' };
        if (error instanceof BrokenOff || error instanceof TypeError) return { reason: 'broken off' };
        throw error;
    }
}
