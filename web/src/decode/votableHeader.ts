/** Reads a VOTable up to its data. A worker has no XML parser, and most of the document is base64. */

import type { Field } from '../model/resultModel';
import { fieldFromAttributes, Unreadable } from './decodedPiece';

export interface VOTableHeader {
    readonly fields: readonly Field[];
    /** per column, the integer that stands for NULL in BINARY */
    readonly nulls: readonly (string | undefined)[];
    readonly serialization: 'BINARY' | 'BINARY2';
    /** QUERY_STATUS before the data; '' if none */
    readonly status: string;
    /** the document without data */
    readonly about: string;
}

const TAG = /<(?:!--.*?--|\?.*?\?|(\/?)(?:[\w.-]+:)?([\w.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?))>/gs;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Return the start of the data, after the STREAM tag; undefined if it has not come yet. Raises Unreadable for other
 * data.
 */
export function findDataStart(text: string): number | undefined {
    const found = /<(?:[\w.-]+:)?(STREAM|TABLEDATA|FITS)\b[^>]*>|<\/(?:[\w.-]+:)?VOTABLE\s*>/.exec(text);
    if (!found) return undefined;
    if (found[1] !== 'STREAM') throw new Unreadable(`a VOTable in ${found[1] ?? 'no data'}`);
    if (!/encoding\s*=\s*["']base64["']/.test(found[0])) throw new Unreadable('a stream that is not in base64');
    return found.index + found[0].length;
}

/** Read everything before the data. Raises Unreadable. */
export function readHeaderText(text: string): VOTableHeader {
    let fields: Map<string, string>[] = [];
    let [status, serialization, within] = ['', '', ''];
    let behind = 0;
    for (const found of text.matchAll(TAG)) {
        const [all, closing, name, attributes = ''] = found;
        if (name === 'DESCRIPTION' && closing && within === 'FIELD')
            fields.at(-1)?.set('description', unescapeXml(text.slice(behind, found.index)).trim());
        behind = found.index + all.length;
        if (closing) {
            if (name === 'FIELD') within = '';
            continue;
        }
        const values = attributesOf(attributes);
        if (name === 'TABLE') fields = [];
        else if (name === 'FIELD') fields.push(values);
        else if (name === 'VALUES' && within === 'FIELD') fields.at(-1)?.set('null', values.get('null') ?? '');
        else if (name === 'INFO' && values.get('name') === 'QUERY_STATUS') status = values.get('value') ?? '';
        else if (name === 'BINARY' || name === 'BINARY2') serialization = name;
        if (name === 'FIELD') within = found[4] ? '' : 'FIELD';
    }
    if (serialization !== 'BINARY' && serialization !== 'BINARY2') throw new Unreadable('a stream of unknown kind');
    const about = text.replace(/<(?:[\w.-]+:)?DATA\b.*$/s, '</TABLE></RESOURCE></VOTABLE>');
    const nulls = fields.map((field) => field.get('null') || undefined);
    return { fields: fields.map(fieldFromAttributes), nulls, serialization, status, about };
}

/** Return QUERY_STATUS after the data, with its text. */
export function readTrailer(text: string): { value: string; text: string } | undefined {
    const found = /<(?:[\w.-]+:)?INFO\b([^>]*name\s*=\s*["']QUERY_STATUS["'][^>]*?)(?:\/>|>(.*?)<\/)/s.exec(text);
    if (!found) return undefined;
    return { value: attributesOf(found[1]!).get('value') ?? '', text: unescapeXml(found[2] ?? '').trim() };
}

function attributesOf(text: string): Map<string, string> {
    const found = new Map<string, string>();
    for (const [, name, one, other] of text.matchAll(ATTRIBUTE)) found.set(name!, unescapeXml(one ?? other ?? ''));
    return found;
}

function unescapeXml(text: string): string {
    return text.replace(/<!\[CDATA\[(.*?)\]\]>/gs, '$1').replace(/&(#x?[\da-f]+|\w+);/gi, (all, name: string) => {
        if (!name.startsWith('#')) return ENTITIES[name] ?? all;
        const code = /^#x/i.test(name) ? parseInt(name.slice(2), 16) : parseInt(name.slice(1), 10);
        return code <= 0x10ffff ? String.fromCodePoint(code) : all;
    });
}
