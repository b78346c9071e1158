/** A result of any format that the page reads itself. */

import { arrowPieces } from './arrowDecoder';
import type { ByteReader } from './byteReader';
import { Unreadable, type Piece } from './decodedPiece';
import { votablePieces } from './votableDecoder';

/** The pieces of a result, by its first bytes. Raises Unreadable for formats that the service has to read. */
export async function* pieces(reader: ByteReader): AsyncGenerator<Piece> {
    const start = await reader.peek(8);
    const text = String.fromCharCode(...start);
    if (text.startsWith('ARROW1') || text.startsWith('\xff\xff\xff\xff')) yield* arrowPieces(reader);
    else if (/^(\xef\xbb\xbf)?\s*</.test(text)) yield* votablePieces(reader);
    else throw new Unreadable('a format that the page does not know');
}
