/** Names in ADQL: of uploaded tables, of columns with whatever characters a file has, of outputs that must differ. */

import { RESERVED } from '../editor/words';

/** Whether the service takes it as an uploaded table's name without quotes: a letter, then letters, digits and `_`. */
export const isTableName = (name: string): boolean =>
    /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(name) && !RESERVED.has(name.toUpperCase());

/** A name as a query must write it: in double quotes unless it is a regular identifier and no reserved word. */
export function written(name: string): string {
    const regular = /^[A-Za-z][A-Za-z0-9_]*$/.test(name) && !RESERVED.has(name.toUpperCase());
    return regular ? name : `"${name.replaceAll('"', '""')}"`;
}

/** A name for the table of a file: of its file name, no reserved word, and none of `taken` (case does not count). */
export function tableName(filename: string, taken: readonly string[]): string {
    const stem = filename.replace(/\.gz$/i, '').replace(/\.[A-Za-z0-9]{1,8}$/, '');
    const words = stem
        .normalize('NFKD')
        .replace(/\p{M}/gu, '')
        .replace(/[^A-Za-z0-9]+/g, '_')
        .replace(/^_+|_+$/g, '')
        .slice(0, 40);
    const base = /^[A-Za-z]/.test(words) ? words : `t${words && `_${words}`}`;
    return unique(isTableName(base) ? base : `${base}_table`, taken);
}

/** `name`, or with a number after it the first that is none of `taken`; case does not count. */
export function unique(name: string, taken: readonly string[]): string {
    const lower = new Set(taken.map((other) => other.toLowerCase()));
    let found = name;
    for (let n = 2; lower.has(found.toLowerCase()); n++) found = `${name}_${n}`;
    return found;
}
