/** Decodes base64 in XML: piece by piece, with white space, up to the next tag. */

import type { Bytes } from '../model/columnParts';

const VALUES = new Uint8Array(256).fill(255);
for (const [value, letter] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
    VALUES[letter.charCodeAt(0)] = value;

const LESS_THAN = 0x3c;

export class Base64Decoder {
    #bits = 0;
    #letters = 0;
    /** a tag has begun: the data have ended */
    ended = false;

    /**
     * Decode `text` into `into` from `to` on, which must have room. Return the end of the decoded bytes and the number
     * of bytes of `text` used.
     */
    decodeText(text: Bytes, into: Bytes, to: number): { end: number; used: number } {
        let [at, end, bits, letters] = [0, to, this.#bits, this.#letters];
        for (; at < text.length; at++) {
            // fast path: four letters in a row
            while (letters === 0 && at + 4 <= text.length) {
                const [one, two] = [VALUES[text[at]!]!, VALUES[text[at + 1]!]!];
                const [three, four] = [VALUES[text[at + 2]!]!, VALUES[text[at + 3]!]!];
                if ((one | two | three | four) > 63) break;
                into[end] = (one << 2) | (two >> 4);
                into[end + 1] = (two << 4) | (three >> 2);
                into[end + 2] = (three << 6) | four;
                end += 3;
                at += 4;
            }
            if (at === text.length) break;
            const value = VALUES[text[at]!]!;
            if (value === 255) {
                if (text[at] !== LESS_THAN) continue;
                this.ended = true;
                break;
            }
            bits = (bits << 6) | value;
            if (++letters < 4) continue;
            into[end++] = bits >> 16;
            into[end++] = bits >> 8;
            into[end++] = bits;
            [bits, letters] = [0, 0];
        }
        if (this.ended) end = writeRest(into, end, bits, letters);
        [this.#bits, this.#letters] = [bits, letters];
        return { end, used: at };
    }
}

/** Write the last one or two bytes. */
function writeRest(bytes: Bytes, to: number, bits: number, letters: number): number {
    if (letters === 3) {
        bytes[to++] = bits >> 10;
        bytes[to++] = bits >> 2;
    } else if (letters === 2) bytes[to++] = bits >> 4;
    return to;
}
