/** Names as ADQL writes them: `tycho2.bright`, `survey."my table"`. */

import { RESERVED } from './adqlReservedWords';

/** A name with dots, cut into its parts, still as they are written: `a."b.c"` into `a` and `"b.c"`. */
export function splitName(name: string): string[] {
    return name.match(/"(?:[^"]|"")*"|[^."]+/g) ?? [];
}

/** A part without its double quotes. */
export function unquoteName(part: string): string {
    return /^".*"$/s.test(part) ? part.slice(1, -1).replaceAll('""', '"') : part;
}

/** The schema of `schema.table`, as it is written; '' if the name has none. */
export function schemaOf(table: string): string {
    return splitName(table).slice(0, -1).join('.');
}

/** The last part of a name: the table's own, without its schema. */
export function lastPartOf(name: string): string {
    return splitName(name).at(-1) ?? name;
}

/** Whether two names mean the same: case does not count outside of double quotes. */
export function areSameNames(one: string, other: string): boolean {
    const plainName = (name: string) =>
        splitName(name)
            .map((part) => (part.startsWith('"') ? part : part.toLowerCase()))
            .join('.');
    return plainName(one) === plainName(other);
}

/** A text as ADQL's literal. */
export function quoteLiteral(value: string): string {
    return `'${value.replaceAll("'", "''")}'`;
}

/** A name as a query must write it: in double quotes unless it is a regular identifier and no reserved word. */
export function quoteName(name: string): string {
    const regular = /^[A-Za-z][A-Za-z0-9_]*$/.test(name) && !RESERVED.has(name.toUpperCase());
    return regular ? name : `"${name.replaceAll('"', '""')}"`;
}

/** Whether the service takes it as an uploaded table's name without quotes: a letter, then letters, digits and `_`. */
export const isTableName = (name: string): boolean =>
    /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(name) && !RESERVED.has(name.toUpperCase());

/** A name for the table of a file: of its file name, no reserved word, and none of `taken` (case does not count). */
export function tableNameOfFile(filename: string, taken: readonly string[]): string {
    const stem = filename.replace(/\.gz$/i, '').replace(/\.[A-Za-z0-9]{1,8}$/, '');
    const words = stem
        .normalize('NFKD')
        .replace(/\p{M}/gu, '')
        .replace(/[^A-Za-z0-9]+/g, '_')
        .replace(/^_+|_+$/g, '')
        .slice(0, 40);
    const base = /^[A-Za-z]/.test(words) ? words : `t${words && `_${words}`}`;
    return makeUnique(isTableName(base) ? base : `${base}_table`, taken);
}

/** `name`, or with a number after it the first that is none of `taken`; case does not count. */
export function makeUnique(name: string, taken: readonly string[]): string {
    const lower = new Set(taken.map((other) => other.toLowerCase()));
    let found = name;
    for (let n = 2; lower.has(found.toLowerCase()); n++) found = `${name}_${n}`;
    return found;
}
