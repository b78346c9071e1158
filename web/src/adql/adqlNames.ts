/** Names in ADQL: `tycho2.bright`, `survey."my table"`. */

import { RESERVED } from './adqlReservedWords';

/** Split a dotted name into its parts as written: `a."b.c"` into `a` and `"b.c"`. */
export function splitName(name: string): string[] {
    return name.match(/"(?:[^"]|"")*"|[^."]+/g) ?? [];
}

/** Remove the double quotes of a part. */
export function unquoteName(part: string): string {
    return /^".*"$/s.test(part) ? part.slice(1, -1).replaceAll('""', '"') : part;
}

/** Return the schema of `schema.table` as written; '' if there is none. */
export function schemaOf(table: string): string {
    return splitName(table).slice(0, -1).join('.');
}

/** Return the last part of a name: the table without its schema. */
export function lastPartOf(name: string): string {
    return splitName(name).at(-1) ?? name;
}

/** Whether two names mean the same; case counts only in double quotes. */
export function areSameNames(one: string, other: string): boolean {
    const plainName = (name: string) =>
        splitName(name)
            .map((part) => (part.startsWith('"') ? part : part.toLowerCase()))
            .join('.');
    return plainName(one) === plainName(other);
}

/** Quote a text as an ADQL literal. */
export function quoteLiteral(value: string): string {
    return `'${value.replaceAll("'", "''")}'`;
}

/** Quote a name unless it is a regular identifier and not reserved. */
export function quoteName(name: string): string {
    const regular = /^[A-Za-z][A-Za-z0-9_]*$/.test(name) && !RESERVED.has(name.toUpperCase());
    return regular ? name : `"${name.replaceAll('"', '""')}"`;
}

/** Whether an uploaded table may have the name: a letter, then letters, digits and `_`, not reserved. */
export const isTableName = (name: string): boolean =>
    /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(name) && !RESERVED.has(name.toUpperCase());

/** Make a table name from a file name, not reserved and not in `taken` (ignoring case). */
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

/** Return `name`, or with the first number that makes it differ from `taken` (ignoring case). */
export function makeUnique(name: string, taken: readonly string[]): string {
    const lower = new Set(taken.map((other) => other.toLowerCase()));
    let found = name;
    for (let n = 2; lower.has(found.toLowerCase()); n++) found = `${name}_${n}`;
    return found;
}
