/** Splits ADQL into tokens as the service does, but tolerates incomplete queries. */

import { RESERVED } from './adqlReservedWords';

export interface Token {
    /** word: a regular identifier; name: a delimited one; open: a string or name without its closing quote */
    readonly kind: 'keyword' | 'word' | 'name' | 'number' | 'string' | 'operator' | 'comment' | 'open' | 'strange';
    /** as written; keywords in upper case */
    readonly text: string;
    /** offsets [from, to) in UTF-16 units */
    readonly from: number;
    readonly to: number;
}

const TOKEN = new RegExp(
    [
        /(?<word>[A-Za-z][A-Za-z0-9_]*)/,
        /(?<number>0[xX][0-9A-Za-z_.]*|\.?[0-9](?:[eE][+-][0-9]|[0-9A-Za-z_.])*)/,
        /(?<comment>--[^\r\n]*)/,
        /(?<string>'(?:[^']|'')*')/,
        /(?<name>"(?:[^"]|"")*")/,
        /(?<open>['"][^\r\n]*)/,
        /(?<operator><>|!=|<=|>=|\|\||[-+*/(),.=<>&|^~[\];])/,
        /(?<strange>\S)/u,
    ]
        .map((part) => part.source)
        .join('|'),
    'gu',
);

/** Return the tokens of a query, comments included. */
export function splitTokens(adql: string): Token[] {
    const tokens: Token[] = [];
    for (const found of adql.matchAll(TOKEN)) {
        const kind = Object.entries(found.groups ?? {}).find(([, text]) => text !== undefined)?.[0] ?? 'strange';
        tokens.push(makeToken(kind as Token['kind'], found[0], found.index));
    }
    return tokens;
}

function makeToken(kind: Token['kind'], text: string, from: number): Token {
    const to = from + text.length;
    const upper = text.toUpperCase();
    return kind === 'word' && RESERVED.has(upper)
        ? { kind: 'keyword', text: upper, from, to }
        : { kind, text, from, to };
}

/** Return the name of an identifier token, without quotes. */
export function nameOf(token: Token): string {
    if (token.kind === 'name') return token.text.slice(1, -1).replaceAll('""', '"');
    return token.kind === 'open' ? token.text.slice(1) : token.text;
}

/** Whether the token is an identifier. */
export const isName = (token: Token | undefined): token is Token & { readonly kind: 'word' | 'name' } =>
    token?.kind === 'word' || token?.kind === 'name';

/** Whether two names are equal ignoring case. */
export function equalIgnoringCase(written: string, name: string): boolean {
    return written.toLowerCase() === name.toLowerCase();
}
