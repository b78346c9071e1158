/** What a decoder gives, piece by piece: the columns, rows, and how the result ended. */

import { kindOf } from '../model/fieldKind';
import type { ColumnPart } from '../model/columnParts';
import type { Field } from '../model/resultModel';

export type DecodedPiece =
    | { readonly type: 'fields'; readonly fields: readonly Field[]; readonly about: string }
    /** a part of each column, all of the same length */
    | { readonly type: 'rows'; readonly length: number; readonly parts: readonly ColumnPart[] }
    /** `value`: OK, OVERFLOW or ERROR. A result that never says it is not whole */
    | { readonly type: 'status'; readonly value: string; readonly text: string };

/** What cannot be read: a sentence's end that names it. */
export class Unreadable extends Error {
    override readonly name = 'Unreadable';
}

/** A field of its attributes; those that are empty are left out. */
export function fieldFromAttributes(said: ReadonlyMap<string, string>): Field {
    const words = ['arraysize', 'xtype', 'unit', 'ucd', 'utype', 'description'] as const;
    const given = Object.fromEntries(words.flatMap((word) => (said.get(word) ? [[word, said.get(word)]] : [])));
    const datatype = said.get('datatype') ?? 'char';
    const kind = kindOf(datatype, said.get('arraysize'), said.get('xtype'));
    return { name: said.get('name') ?? '', datatype, kind, ...given };
}
