/** Requests to a table's worker. Answers are cached while the table's state stays the same. */

import type { WorkerCalls, FromWorker, WorkerNews, ToWorker, LoadRequest } from './workerMessages';

/** The table was closed before the worker answered. */
export class TableClosed extends Error {
    override readonly name = 'Closed';
}

interface Waiting {
    readonly resolve: (value: never) => void;
    readonly reject: (reason: Error) => void;
}

export class WorkerLink {
    #worker = new Worker(new URL('./tableWorker.ts', import.meta.url), { type: 'module' });
    #waiting = new Map<number, Waiting>();
    #asked = 0;
    #kept = new Map<string, { state: number; answer: Promise<unknown> }>();

    constructor(onNews: (news: WorkerNews) => void, onFailure: (why: string) => void) {
        this.#worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
            if ('news' in data) onNews(data);
            else this.#takeAnswer(data);
        };
        this.#worker.onerror = (event) => {
            event.preventDefault();
            onFailure(event.message ?? '');
        };
    }

    openResult(wanted: LoadRequest): void {
        this.#worker.postMessage({ open: wanted } satisfies ToWorker);
    }

    askWorker<Name extends keyof WorkerCalls>(
        call: Name,
        ...given: Parameters<WorkerCalls[Name]>
    ): Promise<ReturnType<WorkerCalls[Name]>> {
        const id = this.#asked++;
        return new Promise((resolve, reject) => {
            this.#waiting.set(id, { resolve, reject });
            this.#worker.postMessage({ id, call, with: given });
        });
    }

    /** As `askWorker`, with the last answer cached under `key` while `state` stays the same. */
    askOnce<Name extends keyof WorkerCalls>(
        key: string,
        state: number,
        call: Name,
        ...given: Parameters<WorkerCalls[Name]>
    ): Promise<ReturnType<WorkerCalls[Name]>> {
        const known = this.#kept.get(key);
        if (known?.state === state) return known.answer as Promise<ReturnType<WorkerCalls[Name]>>;
        const answer = this.askWorker(call, ...given);
        this.#kept.set(key, { state, answer });
        return answer;
    }

    /** Forget the cached answers: columns have changed. */
    forgetAnswers(): void {
        this.#kept.clear();
    }

    /** End the worker; pending requests are rejected with TableClosed. */
    close(): void {
        this.#worker.terminate();
        for (const waiting of this.#waiting.values()) waiting.reject(new TableClosed());
        this.#waiting.clear();
        this.#kept.clear();
    }

    #takeAnswer(data: Exclude<FromWorker, WorkerNews>): void {
        const waiting = this.#waiting.get(data.id);
        this.#waiting.delete(data.id);
        if ('failed' in data) waiting?.reject(new Error(data.failed));
        else waiting?.resolve(data.value as never);
    }
}
