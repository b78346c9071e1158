/** Base64 in pieces, as XML has it: with blanks and line ends between, up to the next tag. */

import type { Bytes } from '../columns';

const VALUES = new Uint8Array(256).fill(255);
for (const [value, letter] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
    VALUES[letter.charCodeAt(0)] = value;

const LESS_THAN = 0x3c;

export class Base64 {
    #bits = 0;
    #letters = 0;
    /** a tag has begun: the data are over */
    ended = false;

    /** The bytes that the letters in `text` complete, and how many bytes of `text` were letters or between them. */
    decode(text: Bytes): { bytes: Bytes; used: number } {
        const bytes = new Uint8Array(((text.length + 3) * 3) >> 2);
        let [to, at, bits, letters] = [0, 0, this.#bits, this.#letters];
        for (; at < text.length; at++) {
            const value = VALUES[text[at]!]!;
            if (value === 255) {
                if (text[at] === LESS_THAN) {
                    this.ended = true;
                    break;
                }
                continue;
            }
            bits = (bits << 6) | value;
            if (++letters < 4) continue;
            bytes[to++] = bits >> 16;
            bytes[to++] = bits >> 8;
            bytes[to++] = bits;
            [bits, letters] = [0, 0];
        }
        if (this.ended) to = rest(bytes, to, bits, letters);
        [this.#bits, this.#letters] = [bits, letters];
        return { bytes: bytes.subarray(0, to), used: at };
    }
}

/** The one or two bytes of the last two or three letters. */
function rest(bytes: Bytes, to: number, bits: number, letters: number): number {
    if (letters === 3) {
        bytes[to++] = bits >> 10;
        bytes[to++] = bits >> 2;
    } else if (letters === 2) bytes[to++] = bits >> 4;
    return to;
}
