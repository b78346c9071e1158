/** Streams for tests. */

import type { Bytes } from '../model/columnParts';

/** Return a stream of the bytes in pieces of `size`. */
export function streamOf(bytes: Uint8Array, size = bytes.length): ReadableStream<Bytes> {
    let at = 0;
    return new ReadableStream({
        pull(controller) {
            if (at >= bytes.length) return controller.close();
            controller.enqueue(Uint8Array.from(bytes.subarray(at, at + size)));
            at += size;
        },
    });
}
