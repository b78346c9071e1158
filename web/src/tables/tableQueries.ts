/** Queries to start from, and snippets for other programs. */

import { quoteLiteral } from '../adql/adqlNames';
import type { Column } from '../tap/vosiTables';

/** Wider tables are not shown whole at first. */
const MANY_COLUMNS = 40;

/** Return a query for the first rows: all columns, or the principal ones of a wide table. */
export function firstRowsQuery(table: string, columns: readonly Column[], principal: ReadonlySet<string>): string {
    const first = columns.filter((column) => principal.has(column.name));
    const chosen = first.length ? first : columns.slice(0, MANY_COLUMNS);
    const names = columns.length <= MANY_COLUMNS ? '*' : chosen.map((column) => column.name).join(', ');
    return `SELECT TOP 100 ${names}\nFROM ${table}`;
}

/** Return a cone search around a position (degrees) or an object name, nearest first. `radius` in degrees. */
export function coneQuery(
    table: string,
    [ra, dec]: readonly [Column, Column],
    centre: readonly [number, number] | string,
    radius: number,
): string {
    const point = `POINT(${ra.name}, ${dec.name})`;
    const around =
        typeof centre === 'string' ? `skyhouse_resolve(${quoteLiteral(centre)})` : `POINT(${centre.join(', ')})`;
    return (
        `SELECT *, DISTANCE(${point}, ${around}) AS separation\n` +
        `FROM ${table}\n` +
        `WHERE DISTANCE(${point}, ${around}) <= ${Number(radius.toPrecision(12))}\n` +
        `ORDER BY separation`
    );
}

export type Program = 'pyvo' | 'topcat' | 'stilts' | 'curl';

/** Return code or instructions that query the table's first rows with another program. */
export function clientSnippet(program: Program, tap: string, table: string): string {
    const query = `SELECT TOP 100 * FROM ${table}`;
    switch (program) {
        case 'pyvo':
            return (
                `import pyvo\n\ntap = pyvo.dal.TAPService(\n    ${JSON.stringify(tap)})\n` +
                `rows = tap.search(\n    ${JSON.stringify(query)}).to_table()`
            );
        case 'topcat':
            return tap;
        case 'stilts':
            return `stilts tapquery tapurl=${shellQuote(tap)} sync=true ofmt=ascii \\\n    adql=${shellQuote(query)}`;
        case 'curl':
            return `curl ${shellQuote(`${tap}/sync`)} -d LANG=ADQL -d FORMAT=csv \\\n    --data-urlencode ${shellQuote(`QUERY=${query}`)}`;
    }
}

/** Quote a word for a POSIX shell. */
function shellQuote(word: string): string {
    return /^[\w./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
