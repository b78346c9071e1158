/** Queries that can stand within another one. */

import { isName, splitTokens } from '../adql/adqlTokens';

/** Words that make the rows of a subquery differ from those that are shown, or that it must not have. */
const UNSAFE = ['TOP', 'OFFSET', 'ORDER', 'WITH', 'TABLESAMPLE', 'RAND', 'TAP_UPLOAD', 'INTO'];

/** Whether a query can stand within another one and returns the same rows there. */
export function isPlainQuery(adql: string): boolean {
    const tokens = splitTokens(adql).filter(({ kind }) => kind !== 'comment');
    const last = tokens.at(-1)?.text === ';' ? tokens.slice(0, -1) : tokens;
    return (
        last[0]?.text === 'SELECT' &&
        !last.some(
            (token) =>
                token.kind === 'open' ||
                token.text === ';' ||
                ((isName(token) || token.kind === 'keyword') && UNSAFE.includes(token.text.toUpperCase())),
        )
    );
}

/** Write a query as a table of FROM, indented. */
export function writeSubquery(adql: string): string {
    const lines = adql.trim().replace(/;\s*$/, '').split('\n');
    return `(\n${lines.map((line) => `    ${line}`).join('\n')}\n)`;
}
