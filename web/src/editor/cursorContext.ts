/** The context of a position in a query: the name being typed, the call around it, the range of an error. */

import type { QueryError } from '../tap/estimateClient';
import { isName, nameOf, type Token } from '../adql/adqlTokens';

export interface TypedName {
    /** the word before the cursor, or an empty range */
    readonly from: number;
    readonly to: number;
    /** the part before the cursor */
    readonly prefix: string;
    /** the names before it: `a` and `b` in `a.b.pre` */
    readonly qualifier: readonly string[];
    /** the last token before the name and its qualifier */
    readonly before: Token | undefined;
}

/** Return the name being typed at an offset; undefined inside comments, strings and numbers. */
export function typedAt(tokens: readonly Token[], at: number): TypedName | undefined {
    const inside = tokens.find((token) => token.from < at && at <= token.to);
    if (!inside || inside.kind === 'operator' || inside.kind === 'strange') return emptyNameAt(tokens, at);
    const named = inside.kind === 'keyword' || isName(inside) || inside.text.startsWith('"');
    // a name is complete after its closing quote
    if (!named || (inside.kind === 'name' && at === inside.to)) return undefined;
    const to = inside.kind === 'name' ? inside.to : at;
    return { ...emptyNameAt(tokens, inside.from), to, prefix: inside.text.slice(0, at - inside.from) };
}

function emptyNameAt(tokens: readonly Token[], at: number): TypedName {
    const earlier = tokens.filter((token) => token.to <= at && token.kind !== 'comment');
    const qualifier: string[] = [];
    while (earlier.at(-1)?.text === '.' && isName(earlier.at(-2))) {
        qualifier.unshift(nameOf(earlier.at(-2)!));
        earlier.splice(-2);
    }
    return { from: at, to: at, prefix: '', qualifier, before: earlier.at(-1) };
}

export interface CallAtCursor {
    readonly name: string;
    /** start of its name */
    readonly from: number;
    /** index of the argument at the cursor, from 0 */
    readonly argument: number;
}

/** Return the innermost call whose parentheses contain the offset. */
export function callAt(tokens: readonly Token[], at: number): CallAtCursor | undefined {
    let [depth, argument] = [0, 0];
    for (let index = tokens.findLastIndex((token) => token.from < at); index >= 0; index -= 1) {
        const { kind, text, to } = tokens[index]!;
        if (kind !== 'operator' || to > at) continue;
        if (text === ')') depth += 1;
        else if (text === ',' && depth === 0) argument += 1;
        else if (text === '(' && depth > 0) depth -= 1;
        else if (text === '(') {
            const name = tokens[index - 1];
            const called = name && (name.kind === 'word' || name.kind === 'keyword');
            return called ? { name: name.text, from: name.from, argument } : undefined;
        }
    }
    return undefined;
}

/** Return the offsets [from, to) of an error in UTF-16 units, at least one character long. */
export function rangeOf(adql: string, error: QueryError): { from: number; to: number } {
    if (error.line === undefined || error.column === undefined) return { from: 0, to: 0 };
    const lines = adql.split('\n');
    const from = offsetOf(lines, error.line, error.column);
    const end = offsetOf(lines, error.endLine ?? error.line, error.endColumn ?? error.column + 1);
    const to = Math.min(Math.max(end, from + 1), adql.length);
    return { from: Math.min(from, Math.max(to - 1, 0)), to };
}

/** The service counts code points, the editor UTF-16 units. */
function offsetOf(lines: readonly string[], line: number, column: number): number {
    const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    return before + [...(lines[line - 1] ?? '')].slice(0, column - 1).join('').length;
}

const LISTS = ['SELECT', 'FROM', 'GROUP', 'ORDER'];

/** Return the change that inserts `text` at an offset: after a comma in a list, and with blanks between words. */
export function insertionAt(
    adql: string,
    at: number,
    text: string,
    clause: string,
    tokens: readonly Token[],
): { readonly from: number; readonly to: number; readonly insert: string } {
    const index = tokens.findLastIndex((token) => token.to <= at && token.kind !== 'comment');
    const before = tokens[index];
    const blank = adql.slice(before?.to ?? 0, at);
    const tail = /^[\w"]/.test(adql.slice(at)) ? ' ' : '';
    if (before && endsItem(tokens, index) && LISTS.includes(clause) && !blank.trim() && /^[\w".]+$/.test(text))
        return { from: before.to, to: at, insert: `,${blank || ' '}${text}${tail}` };
    const head = /[\w"')*,]$/.test(adql.slice(0, at)) ? ' ' : '';
    return { from: at, to: at, insert: head + text + tail };
}

/** Whether the token ends an item of a list. The number of TOP does not. */
function endsItem(tokens: readonly Token[], index: number): boolean {
    const token = tokens[index]!;
    const counted = token.kind === 'number' && tokens[index - 1]?.text === 'TOP';
    return (isName(token) || token.kind === 'number' || token.text === ')' || token.text === '*') && !counted;
}
