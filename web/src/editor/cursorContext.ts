/** Places of a query: what is being typed there, the call around it, and where the service's faults are. */

import type { QueryFault } from '../tap/queryEstimate';
import { isName, nameOf, type Token } from '../adql/adqlTokens';

export interface TypedName {
    /** what is completed: the word before the cursor, or nothing at the cursor */
    readonly from: number;
    readonly to: number;
    /** as written before the cursor */
    readonly prefix: string;
    /** the names before it: `a` and `b` of `a.b.pre` */
    readonly qualifier: readonly string[];
    /** the last token before all that */
    readonly before: Token | undefined;
}

/** What is being typed at an offset; undefined in comments, texts and numbers. */
export function typedAt(tokens: readonly Token[], at: number): TypedName | undefined {
    const inside = tokens.find((token) => token.from < at && at <= token.to);
    if (!inside || inside.kind === 'operator' || inside.kind === 'strange') return emptyNameAt(tokens, at);
    const named = inside.kind === 'keyword' || isName(inside) || inside.text.startsWith('"');
    // after its closing quote a name is not typed any more
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
    /** where its name begins */
    readonly from: number;
    /** the argument at the place, from 0 */
    readonly argument: number;
}

/** The innermost call whose parentheses hold the offset. */
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

/** The offsets [from, to) of a fault, in UTF-16 units; one character at least where the query has one. */
export function rangeOf(adql: string, fault: QueryFault): { from: number; to: number } {
    if (fault.line === undefined || fault.column === undefined) return { from: 0, to: 0 };
    const lines = adql.split('\n');
    const from = offsetOf(lines, fault.line, fault.column);
    const end = offsetOf(lines, fault.endLine ?? fault.line, fault.endColumn ?? fault.column + 1);
    const to = Math.min(Math.max(end, from + 1), adql.length);
    return { from: Math.min(from, Math.max(to - 1, 0)), to };
}

/** The service counts code points; the editor counts UTF-16 units. */
function offsetOf(lines: readonly string[], line: number, column: number): number {
    const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    return before + [...(lines[line - 1] ?? '')].slice(0, column - 1).join('').length;
}

const LISTS = ['SELECT', 'FROM', 'GROUP', 'ORDER'];

/** The change that inserts `text` at an offset: with a comma in a list, and with blanks where words would touch. */
export function insertionAt(
    adql: string,
    at: number,
    text: string,
    clause: string,
    tokens: readonly Token[],
): { readonly from: number; readonly to: number; readonly insert: string } {
    const place = tokens.findLastIndex((token) => token.to <= at && token.kind !== 'comment');
    const before = tokens[place];
    const blank = adql.slice(before?.to ?? 0, at);
    const tail = /^[\w"]/.test(adql.slice(at)) ? ' ' : '';
    if (before && endsItem(tokens, place) && LISTS.includes(clause) && !blank.trim() && /^[\w".]+$/.test(text))
        return { from: before.to, to: at, insert: `,${blank || ' '}${text}${tail}` };
    const head = /[\w"')*,]$/.test(adql.slice(0, at)) ? ' ' : '';
    return { from: at, to: at, insert: head + text + tail };
}

/** Does a value or a name of a list end with this token? The number of TOP is none. */
function endsItem(tokens: readonly Token[], place: number): boolean {
    const token = tokens[place]!;
    const counted = token.kind === 'number' && tokens[place - 1]?.text === 'TOP';
    return (isName(token) || token.kind === 'number' || token.text === ')' || token.text === '*') && !counted;
}
