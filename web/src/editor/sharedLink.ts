/** Links that contain a query and the layout of its result, in the fragment, which is never sent to a server. */

import { pageAddress } from '../browser/router.svelte';

/** Longer queries are compressed. */
const MAX_PLAIN = 1500;

/** Return the absolute address that opens the query in a tab; `layout` is the layout of its result as JSON. */
export async function linkTo(adql: string, layout = ''): Promise<string> {
    const parameters: Record<string, string> = {
        ...(adql.length <= MAX_PLAIN ? { adql } : { z: await packText(adql) }),
        ...(layout && { layout: await packText(layout) }),
    };
    return new URL(pageAddress('query', '', parameters), location.href).href;
}

/** Return the query of an address, undefined if there is none. Raises an Error if it is damaged. */
export async function readQuery(parameters: URLSearchParams): Promise<string | undefined> {
    const packedQuery = parameters.get('z');
    return packedQuery === null ? (parameters.get('adql') ?? undefined) : unpackText(packedQuery);
}

/** Return the layout of an address as JSON, '' if there is none. Raises an Error if it is damaged. */
export async function readSharedLayout(parameters: URLSearchParams): Promise<string> {
    const packed = parameters.get('layout');
    return packed === null ? '' : unpackText(packed);
}

async function packText(text: string): Promise<string> {
    const bytes = await pipeThrough(new TextEncoder().encode(text), new CompressionStream('deflate-raw'));
    const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
    return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

async function unpackText(text: string): Promise<string> {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(
        await pipeThrough(bytes, new DecompressionStream('deflate-raw')),
    );
}

async function pipeThrough(
    bytes: Uint8Array<ArrayBuffer>,
    transform: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
    return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(transform)).arrayBuffer());
}
