/** What a decoder yields: the fields, batches of rows, and the status. */

import { kindOf } from '../model/fieldKind';
import type { ColumnPart } from '../model/columnParts';
import type { Field } from '../model/resultModel';

export type DecodedPiece =
    | { readonly type: 'fields'; readonly fields: readonly Field[]; readonly about: string }
    /** a part of each column, all of the same length */
    | { readonly type: 'rows'; readonly length: number; readonly parts: readonly ColumnPart[] }
    /** OK, OVERFLOW or ERROR; a result without a status is incomplete */
    | { readonly type: 'status'; readonly value: string; readonly text: string };

/** Names what cannot be read, as the end of a sentence. */
export class Unreadable extends Error {
    override readonly name = 'Unreadable';
}

/** Make a field from VOTable attributes; empty ones are left out. */
export function fieldFromAttributes(attributes: ReadonlyMap<string, string>): Field {
    const words = ['arraysize', 'xtype', 'unit', 'ucd', 'utype', 'description'] as const;
    const given = Object.fromEntries(
        words.flatMap((word) => (attributes.get(word) ? [[word, attributes.get(word)]] : [])),
    );
    const datatype = attributes.get('datatype') ?? 'char';
    const kind = kindOf(datatype, attributes.get('arraysize'), attributes.get('xtype'));
    return { name: attributes.get('name') ?? '', datatype, kind, ...given };
}
