/** Completions of objects' names within the texts that functions of names take. */

import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { splitTokens } from '../adql/adqlTokens';
import { completeName } from '../tap/nameClient';
import { MAX_CHARACTERS } from './adqlCompletion';
import { callAt } from './cursorContext';

/** Functions whose only argument is the name of an object. */
const FUNCTIONS = ['skyhouse_resolve', 'ivo_simbadpoint'];
const SHORTEST = 2;

export interface TypedText {
    /** offset of its first character, after the quote */
    readonly from: number;
    /** offset of its closing quote, or the cursor's if there is none */
    readonly to: number;
    /** the text before the cursor, with doubled quotes undone */
    readonly typed: string;
}

/** Return the name of an object that is typed at an offset; undefined elsewhere. */
export function objectNameAt(adql: string, at: number): TypedText | undefined {
    const tokens = splitTokens(adql);
    const literal = tokens.find(({ from, to }) => from < at && at <= to);
    const isClosed = literal?.kind === 'string';
    if (!literal || !literal.text.startsWith("'") || (isClosed && at === literal.to)) return undefined;
    const call = callAt(tokens, literal.from);
    if (!call || !FUNCTIONS.includes(call.name.toLowerCase())) return undefined;
    const from = literal.from + 1;
    return { from, to: isClosed ? literal.to - 1 : at, typed: adql.slice(from, at).replaceAll("''", "'") };
}

/** Return the names that begin with the typed text; null elsewhere, and if the service does not answer. */
export async function findNameCompletions(context: CompletionContext): Promise<CompletionResult | null> {
    if (context.state.doc.length > MAX_CHARACTERS) return null;
    const name = objectNameAt(context.state.doc.toString(), context.pos);
    if (!name || name.typed.trim().length < SHORTEST) return null;
    const asked = new AbortController();
    context.addEventListener('abort', () => asked.abort());
    const objects = await completeName(name.typed, asked.signal).catch(() => []);
    const first = objects.filter((one, at) => objects.findIndex((other) => other.name === one.name) === at);
    const options = first.map(({ name: label, table }) => ({
        label,
        apply: label.replaceAll("'", "''"),
        detail: table,
        type: 'constant',
    }));
    return { from: name.from, to: name.to, options, filter: false };
}
