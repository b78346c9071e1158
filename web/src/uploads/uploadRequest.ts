/** Requests with upload progress. */

import { text } from '../text';
import { credentials } from '../tap/credentials.svelte';
import { addressOf, errorText, queryBody, TapError, UNASKED } from '../tap/tapRequest';

export interface UploadRequest {
    readonly method: 'POST' | 'PUT';
    readonly body: FormData | URLSearchParams | Blob;
    readonly contentType?: string;
    /** sent part of the body, 0 to 1 */
    readonly onProgress?: (fraction: number) => void;
    readonly signal?: AbortSignal;
}

/** Send a request to `path` below /tap and return the answer. Raises TapError for errors, AbortError if aborted. */
export function sendRequest(path: string, sending: UploadRequest): Promise<string> {
    return new Promise((resolve, reject) => {
        const request = new XMLHttpRequest();
        request.open(sending.method, addressOf(path));
        if (credentials.header) request.setRequestHeader('Authorization', credentials.header);
        if (sending.contentType) request.setRequestHeader('Content-Type', sending.contentType);
        request.upload.onprogress = ({ loaded, total }) => sending.onProgress?.(total ? loaded / total : 1);
        request.onload = () => {
            const { status, responseText } = request;
            if (status >= 200 && status < 300) resolve(responseText);
            else reject(refusalError(status, errorText(responseText) || text.common.failed(status)));
        };
        request.onerror = () => reject(new TapError(text.common.noAnswer, 0));
        request.onabort = () => reject(new DOMException('stopped', 'AbortError'));
        sending.signal?.addEventListener('abort', () => request.abort(), { once: true });
        if (sending.signal?.aborted) request.abort();
        else request.send(sending.body);
    });
}

/** Return the error of an answer; after a 401 the sign-in dialog shows it. */
function refusalError(status: number, message: string): TapError {
    if (status === 401) credentials.refused = message;
    return new TapError(message, status);
}

/** Run a query with uploads at /sync and return JSON text. Raises as `sendRequest`. */
export function queryJson(
    query: string,
    files: Record<string, Blob>,
    watch: Pick<UploadRequest, 'onProgress' | 'signal'> = {},
): Promise<string> {
    return sendRequest('sync', {
        method: 'POST',
        body: queryBody({ ...UNASKED, FORMAT: 'json', QUERY: query }, files),
        ...watch,
    });
}
