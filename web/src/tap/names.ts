/** Names as ADQL writes them: `tycho2.bright`, `survey."my table"`. */

/** A name with dots, cut into its parts, still as they are written: `a."b.c"` into `a` and `"b.c"`. */
export function parts(name: string): string[] {
    return name.match(/"(?:[^"]|"")*"|[^."]+/g) ?? [];
}

/** A part without its double quotes. */
export function unquoted(part: string): string {
    return /^".*"$/s.test(part) ? part.slice(1, -1).replaceAll('""', '"') : part;
}

/** The schema of `schema.table`, as it is written; '' if the name has none. */
export function schemaOf(table: string): string {
    return parts(table).slice(0, -1).join('.');
}

/** The last part of a name: the table's own, without its schema. */
export function ownName(name: string): string {
    return parts(name).at(-1) ?? name;
}

/** Whether two names mean the same: case does not count outside of double quotes. */
export function same(one: string, other: string): boolean {
    const plain = (name: string) =>
        parts(name)
            .map((part) => (part.startsWith('"') ? part : part.toLowerCase()))
            .join('.');
    return plain(one) === plain(other);
}

/** A text as ADQL's literal. */
export function literal(value: string): string {
    return `'${value.replaceAll("'", "''")}'`;
}
