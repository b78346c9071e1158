/** Decodes VOTables in BINARY2 and BINARY: the default of stored results, and what other programs send. */

import type { Bytes } from '../model/columnParts';
import { Base64Decoder } from './base64Decoder';
import { decodeBinaryRows } from './binaryRows';
import type { ByteReader } from './byteReader';
import { Unreadable, type DecodedPiece } from './decodedPiece';
import { findDataStart, readHeaderText, readTrailer, type VOTableHeader } from './votableHeader';

/** Bytes of rows that are decoded together. */
const BLOCK = 4_000_000;
/** A smaller first block shows rows early. */
const FIRST_BLOCK = 100_000;
/** Anything longer is not a header. */
const MAX_HEADER = 64_000_000;

/** Decode a result piece by piece. Raises Unreadable for other serializations and datatypes. */
export async function* decodeVotable(reader: ByteReader): AsyncGenerator<DecodedPiece> {
    const { header, rest } = await readHeader(reader);
    if (!header.fields.length) throw new Unreadable('a table without columns');
    yield { type: 'fields', fields: header.fields, about: header.about };
    const base64 = new Base64Decoder();
    let block: Bytes = new Uint8Array(2 * BLOCK);
    let [filled, wanted, tail] = [0, FIRST_BLOCK, new Uint8Array() as Bytes];
    for (let text: Bytes | undefined = rest; text; text = base64.ended ? undefined : await reader.takeSome()) {
        block = growBlock(block, filled + text.length);
        const { end, used } = base64.decodeText(text, block, filled);
        filled = end;
        if (base64.ended) tail = text.subarray(used);
        if (!base64.ended && filled < wanted) continue;
        const flags = header.serialization === 'BINARY2';
        const decoded = decodeBinaryRows(block.subarray(0, filled), header.fields, flags, header.nulls);
        block.copyWithin(0, decoded.used, filled);
        filled -= decoded.used;
        wanted = filled + BLOCK;
        if (decoded.length) yield { type: 'rows', length: decoded.length, parts: decoded.parts };
    }
    if (filled || !base64.ended) return;
    yield* readStatus(header, await readRest(reader, tail));
}

function growBlock(block: Bytes, length: number): Bytes {
    if (block.length >= length) return block;
    const larger = new Uint8Array(2 * length);
    larger.set(block);
    return larger;
}

/** Return the status after the rows, otherwise the status before them; none if the document is incomplete. */
function* readStatus(header: VOTableHeader, tail: string): Generator<DecodedPiece> {
    if (!/<\/(?:[\w.-]+:)?VOTABLE\s*>/.test(tail)) return;
    const { value, text } = readTrailer(tail) ?? { value: header.status || 'OK', text: '' };
    yield { type: 'status', value, text };
}

async function readHeader(reader: ByteReader): Promise<{ header: VOTableHeader; rest: Bytes }> {
    // one character per byte: positions in the text are positions in the bytes
    const latin = new TextDecoder('latin1');
    let [bytes, text] = [new Uint8Array() as Bytes, ''];
    for (let piece = await reader.takeSome(); piece; piece = await reader.takeSome()) {
        bytes = joinBytes([bytes, piece]);
        text += latin.decode(piece);
        const start = findDataStart(text);
        if (start !== undefined) {
            const header = readHeaderText(new TextDecoder().decode(bytes.subarray(0, start)));
            return { header, rest: bytes.subarray(start) };
        }
        if (bytes.length > MAX_HEADER) break;
    }
    throw new Unreadable('no VOTable with rows');
}

async function readRest(reader: ByteReader, start: Bytes): Promise<string> {
    const pieces = [start];
    for (let piece = await reader.takeSome(); piece; piece = await reader.takeSome()) pieces.push(piece);
    return new TextDecoder().decode(joinBytes(pieces));
}

function joinBytes(pieces: readonly Bytes[]): Bytes {
    const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
        whole.set(piece, at);
        at += piece.length;
    }
    return whole;
}
