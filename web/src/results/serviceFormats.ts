/** The formats that the service writes, as /capabilities lists them. */

import { text } from '../text';
import { service } from '../tap/serviceInfo.svelte';
import { EXTENSIONS } from '../tap/formatExtensions';
import { childText, findElements } from '../tap/tapRequest';

export interface ServiceFormat {
    /** what FORMAT takes */
    readonly word: string;
    readonly mime: string;
    /** for people: "VOTable (BINARY2)" */
    readonly title: string;
    /** of a file, without its dot */
    readonly extension: string;
}

/** The ending of a file of this media type. */
export function extensionOf(mime: string): string {
    return EXTENSIONS[mime.split(';')[0]!.trim().toLowerCase()] ?? 'dat';
}

/** All formats of the service, each once. Raises TapError. */
export async function loadFormats(): Promise<ServiceFormat[]> {
    return formatsOf(await service.loadCapabilities());
}

/** The formats in /capabilities, each serialization once, in the order of the document. */
export function formatsOf(capabilities: Document): ServiceFormat[] {
    const found = new Map<string, ServiceFormat>();
    for (const said of findElements(capabilities, 'outputFormat')) {
        const mime = childText(said, 'mime');
        const titles: Readonly<Record<string, string>> = text.results.formats;
        const title = titles[mime.replace(/\s/g, '')] ?? mime;
        if (!found.has(title)) found.set(title, { word: mime, mime, title, extension: extensionOf(mime) });
    }
    return [...found.values()];
}

/** The row limit that nobody may exceed, as /capabilities says it; undefined if it does not. Raises TapError. */
export async function loadHardLimit(): Promise<number | undefined> {
    const limit = findElements(await service.loadCapabilities(), 'outputLimit')[0];
    const hard = limit ? Number(childText(limit, 'hard')) : NaN;
    return Number.isFinite(hard) && hard > 0 ? hard : undefined;
}
