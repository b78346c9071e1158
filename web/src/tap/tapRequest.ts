/** HTTP requests to the service, below /tap, as any TAP client sends them. */

import { namedUploads } from '../adql/queryUploads';
import { text } from '../text';
import { credentials } from './credentials.svelte';

/** Absolute address of the service: `https://host/prefix/tap`. */
export const TAP_ADDRESS = new URL('tap', document.baseURI).href;

/** Parameters of the page's own queries, which the user has not asked: the history leaves them out. */
export const UNASKED = { HISTORY: 'false' } as const;

/** A position in the query, both from 1. */
export interface TextPosition {
    readonly line: number;
    readonly column: number;
}

/** A refusal of the service, or a failed request: a sentence for the user. */
export class TapError extends Error {
    override readonly name = 'TapError';

    constructor(
        message: string,
        /** the HTTP status; 0 without an answer */
        readonly status: number,
        readonly position?: TextPosition,
    ) {
        super(message);
    }
}

/**
 * Request `path` below /tap (or an absolute address of this service). Raises TapError for errors; after a 401 the
 * sign-in dialog shows it. With `redirect: 'manual'` a redirect is a success and is not followed.
 */
export async function askService(path: string, request: RequestInit = {}): Promise<Response> {
    const headers = new Headers(request.headers);
    const isTrial = headers.has('Authorization');
    if (credentials.header && !isTrial) headers.set('Authorization', credentials.header);
    const answer = await fetchAnswer(path, { ...request, headers });
    if (answer.ok || answer.type === 'opaqueredirect') return answer;
    const message = await readMessage(answer);
    if (answer.status === 401 && !isTrial) credentials.refused = message;
    throw new TapError(message, answer.status, findTextPosition(message));
}

async function fetchAnswer(path: string, request: RequestInit): Promise<Response> {
    try {
        // 'omit': otherwise the browser opens its own password box at every 401
        return await fetch(addressOf(path), { credentials: 'omit', ...request });
    } catch (error) {
        if (error instanceof DOMException && error.name === 'AbortError') throw error;
        throw new TapError(text.common.noAnswer, 0);
    }
}

/** Return the absolute address of `path` below /tap. */
export function addressOf(path: string): string {
    return /^https?:/.test(path) ? path : `${TAP_ADDRESS}/${path}`;
}

/** Load an XML document of the service. */
export async function fetchDocument(path: string, request?: RequestInit): Promise<Document> {
    return parseXml(await (await askService(path, request)).text());
}

export function parseXml(source: string): Document {
    return new DOMParser().parseFromString(source, 'application/xml');
}

/** Return all elements with this local name, in any namespace. */
export function findElements(from: Document | Element, name: string): Element[] {
    return [...from.getElementsByTagNameNS('*', name)];
}

/** Return the text of the first child with this local name; '' if there is none. */
export function childText(from: Element, name: string): string {
    return [...from.children].find((child) => child.localName === name)?.textContent?.trim() ?? '';
}

/** Return form values without undefined ones. */
export function formValues(values: Record<string, string | number | undefined>): URLSearchParams {
    const given = Object.entries(values).filter((entry): entry is [string, string | number] => entry[1] !== undefined);
    return new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
}

/** Return a multipart form of values and files. */
export function multipartForm(values: URLSearchParams, files: Record<string, Blob>): FormData {
    const data = new FormData();
    for (const [name, value] of values) data.append(name, value);
    for (const [name, file] of Object.entries(files)) data.append(name, file);
    return data;
}

/**
 * Return a query as form values, with the files that it names as parts under generated names: a table may be
 * called like a parameter.
 */
export function queryForm(
    values: Readonly<Record<'QUERY', string>> & Record<string, string | number | undefined>,
    files: Readonly<Record<string, Blob>> = {},
): { values: [string, string][]; files: Record<string, Blob> } {
    const named = Object.entries(namedUploads(values.QUERY, files));
    const uploads = named.map(([name, file], at) => ({ name, part: `file${at}`, file }));
    const entries = [...formValues({ LANG: 'ADQL', ...values })] as [string, string][];
    for (const { name, part } of uploads) entries.push(['UPLOAD', `${name},param:${part}`]);
    return { values: entries, files: Object.fromEntries(uploads.map(({ part, file }) => [part, file])) };
}

/** Return the body of a request with a query and its uploads. */
export function queryBody(
    values: Parameters<typeof queryForm>[0],
    files?: Readonly<Record<string, Blob>>,
): URLSearchParams | FormData {
    const query = queryForm(values, files);
    const fields = new URLSearchParams(query.values);
    return Object.keys(query.files).length > 0 ? multipartForm(fields, query.files) : fields;
}

async function readMessage(answer: Response): Promise<string> {
    const body = await answer.text().catch(() => '');
    return errorText(body) || text.common.failed(answer.status);
}

/** Return the message of an error, a DALI VOTable or plain text. */
export function errorText(body: string): string {
    if (!body.trimStart().startsWith('<')) return body.trim();
    const status = findElements(parseXml(body), 'INFO').find((info) => info.getAttribute('name') === 'QUERY_STATUS');
    return status?.getAttribute('value') === 'ERROR' ? (status.textContent ?? '').trim() : '';
}

/** Find the position in a message of the service: "line 2, column 14: ...". */
export function findTextPosition(message: string): TextPosition | undefined {
    const found = /\bline (\d+), column (\d+)\b/.exec(message);
    return found ? { line: Number(found[1]), column: Number(found[2]) } : undefined;
}
