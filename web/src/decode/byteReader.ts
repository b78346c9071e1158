/** Reads a stream in pieces of a given length. */

import type { Bytes } from '../model/columnParts';

/** The stream ended inside a piece. */
export class BrokenOff extends Error {
    override readonly name = 'BrokenOff';
}

export class ByteReader {
    #reader: ReadableStreamDefaultReader<Bytes>;
    #piece: Bytes = new Uint8Array();
    #at = 0;
    /** bytes received */
    read = 0;

    constructor(stream: ReadableStream<Bytes>) {
        this.#reader = stream.getReader();
    }

    /** Return the next `length` bytes in a separate buffer; undefined at the end. Raises BrokenOff in between. */
    async takeBytes(length: number): Promise<Bytes | undefined> {
        const taken = new Uint8Array(length);
        let filled = 0;
        while (filled < length) {
            if (this.#at === this.#piece.length && !(await this.#readMore())) {
                if (filled === 0) return undefined;
                throw new BrokenOff();
            }
            const part = this.#piece.subarray(this.#at, this.#at + length - filled);
            taken.set(part, filled);
            filled += part.length;
            this.#at += part.length;
        }
        return taken;
    }

    /** Return the bytes that have arrived, or wait for the next ones; undefined at the end. */
    async takeSome(): Promise<Bytes | undefined> {
        if (this.#at === this.#piece.length && !(await this.#readMore())) return undefined;
        const rest = this.#piece.subarray(this.#at);
        this.#at = this.#piece.length;
        return rest;
    }

    /** Return the first `length` bytes without consuming them; fewer if the stream is shorter. */
    async peekBytes(length: number): Promise<Bytes> {
        while (this.#piece.length - this.#at < length) {
            const rest = this.#piece.subarray(this.#at);
            if (!(await this.#readMore())) {
                [this.#piece, this.#at] = [rest, 0];
                return rest;
            }
            const joined = new Uint8Array(rest.length + this.#piece.length);
            joined.set(rest);
            joined.set(this.#piece, rest.length);
            this.#piece = joined;
        }
        return this.#piece.subarray(this.#at, this.#at + length);
    }

    async #readMore(): Promise<boolean> {
        for (;;) {
            const { done, value } = await this.#reader.read();
            if (done) return false;
            this.read += value.length;
            [this.#piece, this.#at] = [value, 0];
            if (value.length) return true;
        }
    }
}
