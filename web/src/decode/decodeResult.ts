/** Decodes a result in any format that the page can read. */

import { decodeArrow } from './arrowDecoder';
import type { ByteReader } from './byteReader';
import { Unreadable, type DecodedPiece } from './decodedPiece';
import { decodeVotable } from './votableDecoder';

/** Decode a result by its first bytes. Raises Unreadable for formats that the service must read. */
export async function* decodeResult(reader: ByteReader): AsyncGenerator<DecodedPiece> {
    const start = await reader.peekBytes(8);
    const text = String.fromCharCode(...start);
    if (text.startsWith('ARROW1') || text.startsWith('\xff\xff\xff\xff')) yield* decodeArrow(reader);
    else if (/^(\xef\xbb\xbf)?\s*</.test(text)) yield* decodeVotable(reader);
    else throw new Unreadable('a format that the page does not know');
}
