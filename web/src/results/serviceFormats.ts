/** The output formats that /capabilities lists. */

import { text } from '../text';
import { service } from '../tap/serviceInfo.svelte';
import { EXTENSIONS } from '../tap/formatExtensions';
import { childText, findElements } from '../tap/tapRequest';

export interface ServiceFormat {
    /** the value of FORMAT */
    readonly word: string;
    readonly mime: string;
    /** display name: "VOTable (BINARY2)" */
    readonly title: string;
    /** without the dot */
    readonly extension: string;
}

/** Return the file extension of a media type. */
export function extensionOf(mime: string): string {
    return EXTENSIONS[mime.split(';')[0]!.trim().toLowerCase()] ?? 'dat';
}

/** Load all formats of the service, each once. Raises TapError. */
export async function loadFormats(): Promise<ServiceFormat[]> {
    return formatsOf(await service.loadCapabilities());
}

/** Read the formats of /capabilities, each serialization once, in order. */
export function formatsOf(capabilities: Document): ServiceFormat[] {
    const found = new Map<string, ServiceFormat>();
    for (const format of findElements(capabilities, 'outputFormat')) {
        const mime = childText(format, 'mime');
        const titles: Readonly<Record<string, string>> = text.results.formats;
        const title = titles[mime.replace(/\s/g, '')] ?? mime;
        if (!found.has(title)) found.set(title, { word: mime, mime, title, extension: extensionOf(mime) });
    }
    return [...found.values()];
}

/** Load the hard row limit from /capabilities; undefined if it has none. Raises TapError. */
export async function loadHardLimit(): Promise<number | undefined> {
    const limit = findElements(await service.loadCapabilities(), 'outputLimit')[0];
    const hard = limit ? Number(childText(limit, 'hard')) : NaN;
    return Number.isFinite(hard) && hard > 0 ? hard : undefined;
}
