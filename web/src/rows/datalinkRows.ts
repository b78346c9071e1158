/** The rows of a DataLink service (DataLink 1.1, section 3), as a list of links. */

import { ByteReader } from '../decode/byteReader';
import { decodeResult } from '../decode/decodeResult';
import type { Bytes } from '../model/columnParts';
import { ColumnStore } from '../model/columnStore';
import { askService, findElements, parseXml } from '../tap/tapRequest';
import { isWebAddress } from './resultLinks';

export interface DatalinkRow {
    /** '' for a row that is an error, or a service */
    readonly address: string;
    readonly error: string;
    readonly description: string;
    /** without the leading # */
    readonly semantics: string;
    readonly contentType: string;
    /** bytes; NaN if unknown */
    readonly length: number;
}

/** Whether the page's policy lets it fetch or show this address. */
export const isOwnAddress = (address: string): boolean => new URL(address).origin === location.origin;

/** Fetch and read a DataLink document of this service. Raises TapError. */
export async function loadDatalink(address: string, signal: AbortSignal): Promise<DatalinkRow[]> {
    const body = await (await askService(address, { signal })).blob();
    const source = await body.text();
    return /<(?:[\w.-]+:)?STREAM\b/.test(source) ? readBinary(body) : readTabledata(parseXml(source));
}

async function readBinary(body: Blob): Promise<DatalinkRow[]> {
    const store = new ColumnStore();
    for await (const piece of decodeResult(new ByteReader(body.stream() as ReadableStream<Bytes>))) {
        if (piece.type === 'fields') store.setFields(piece.fields);
        if (piece.type === 'rows') store.addBatch(piece.length, piece.parts);
    }
    const names = store.fields.map((field) => field.name);
    const all = [...names.keys()];
    return Array.from({ length: store.rows }, (_, row) =>
        rowOf(
            names,
            store.readRow(row, all).map((cell) => String(cell ?? '')),
        ),
    );
}

/** Read the rows of a VOTable in TABLEDATA. */
function readTabledata(document: Document): DatalinkRow[] {
    const table = findElements(document, 'TABLE')[0];
    if (!table) return [];
    const names = findElements(table, 'FIELD').map((field) => field.getAttribute('name') ?? '');
    return findElements(table, 'TR').map((row) =>
        rowOf(
            names,
            findElements(row, 'TD').map((cell) => cell.textContent?.trim() ?? ''),
        ),
    );
}

function rowOf(names: readonly string[], cells: readonly string[]): DatalinkRow {
    const valueOf = (name: string) => cells[names.indexOf(name)] ?? '';
    const [address, length] = [valueOf('access_url'), valueOf('content_length')];
    return {
        address: isWebAddress(address) ? address : '',
        error: valueOf('error_message'),
        description: valueOf('description'),
        semantics: valueOf('semantics').replace(/^.*#/, ''),
        contentType: valueOf('content_type'),
        length: length ? Number(length) : NaN,
    };
}
