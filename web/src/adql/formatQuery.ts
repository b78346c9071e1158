/** Formats a query: one clause per line, indented subqueries, keywords in upper case. */

import { splitTokens, type Token } from './adqlTokens';
import { CONTEXTUAL, KEYWORDS, TYPES } from './keywords';

const INDENT = 4;
const WIDTH = 100;
const CLAUSES = [
    'SELECT',
    'FROM',
    'WHERE',
    'GROUP',
    'HAVING',
    'ORDER',
    'OFFSET',
    'UNION',
    'EXCEPT',
    'INTERSECT',
    'WITH',
];
const BEFORE_JOIN = ['NATURAL', 'CROSS', 'INNER', 'LEFT', 'RIGHT', 'FULL', 'OUTER'];
const UPPER: ReadonlySet<string> = new Set([...KEYWORDS, ...TYPES]);
/** Words before which a parenthesis does not belong to a call. */
const APART: ReadonlySet<string> = new Set([...KEYWORDS, ...CONTEXTUAL].filter((word) => word !== 'CAST'));

interface Level {
    /** parentheses of a subquery; otherwise of a call, a list or a term */
    readonly query: boolean;
    readonly indent: number;
    /** BETWEENs that still need their AND */
    between: number;
}

/** Format the query without changing its words, their order or comments. */
export function formatQuery(adql: string): string {
    const layout = new QueryFormatter(adql, splitTokens(adql));
    return layout.writeQuery();
}

class QueryFormatter {
    readonly #levels: Level[] = [{ query: true, indent: 0, between: 0 }];
    #out = '';

    constructor(
        readonly adql: string,
        readonly tokens: readonly Token[],
    ) {}

    writeQuery(): string {
        this.tokens.forEach((token, index) => this.#addToken(token, index));
        return this.#out.trimEnd();
    }

    get #level(): Level {
        return this.#levels.at(-1)!;
    }

    #addToken(token: Token, index: number): void {
        const closes = token.text === ')' && token.kind === 'operator';
        const closed = closes && this.#levels.length > 1 ? this.#levels.pop() : undefined;
        this.#out += this.#gapBefore(token, index, closed) + writeToken(token);
        if (token.kind === 'operator' && token.text === '(') this.#openLevel(index);
        if (token.text === 'BETWEEN') this.#level.between += 1;
    }

    #openLevel(index: number): void {
        const query = ['SELECT', 'WITH'].includes(this.tokens[index + 1]?.text ?? '');
        this.#levels.push({ query, indent: this.#level.indent + (query ? INDENT : 0), between: 0 });
    }

    /** Return the white space before a token. */
    #gapBefore(token: Token, index: number, closed: Level | undefined): string {
        const before = this.tokens[index - 1];
        if (!before) return '';
        const own = `\n${' '.repeat(this.#level.indent)}`;
        const further = own + ' '.repeat(INDENT);
        if (before.kind === 'comment') return closed?.query || this.#beginsClause(token) ? own : further;
        if (token.kind === 'comment') return this.adql.slice(before.to, token.from).includes('\n') ? further : ' ';
        if (closed) return closed.query ? own : '';
        if (this.#beginsClause(token)) return own;
        if (this.#breaksLine(token, index)) return further;
        const blank = areGlued(before, token, this.tokens[index - 2]) ? '' : ' ';
        const wide = before.text === ',' && this.#level.query && this.#currentColumn() + token.text.length > WIDTH - 2;
        return wide ? further : blank;
    }

    /** Whether the token begins a clause. */
    #beginsClause({ kind, text }: Token): boolean {
        return kind === 'keyword' && this.#level.query && CLAUSES.includes(text);
    }

    /** Whether the token, a JOIN or a condition, begins a line within a clause. */
    #breaksLine({ kind, text }: Token, index: number): boolean {
        if (kind !== 'keyword' || !this.#level.query) return false;
        const before = this.tokens[index - 1]?.text ?? '';
        if (text === 'JOIN' || BEFORE_JOIN.includes(text)) return this.#isJoin(index) && !BEFORE_JOIN.includes(before);
        if (text === 'AND' && this.#level.between > 0) {
            this.#level.between -= 1;
            return false;
        }
        return text === 'AND' || text === 'OR';
    }

    #isJoin(index: number): boolean {
        let at = index;
        while (BEFORE_JOIN.includes(this.tokens[at]?.text ?? '')) at += 1;
        return this.tokens[at]?.text === 'JOIN';
    }

    #currentColumn(): number {
        return this.#out.length - this.#out.lastIndexOf('\n') - 1;
    }
}

function writeToken({ kind, text }: Token): string {
    return kind === 'keyword' || kind === 'word' ? (UPPER.has(text.toUpperCase()) ? text.toUpperCase() : text) : text;
}

/** Whether two tokens touch. */
function areGlued(before: Token, token: Token, earlier: Token | undefined): boolean {
    const [left, right] = [operatorText(before), operatorText(token)];
    if (['.', '(', '[', '~'].includes(left) || ['.', ',', ')', ']', ';', '['].includes(right)) return true;
    if (right === '(')
        return before.kind === 'word' || before.kind === 'keyword' ? !APART.has(before.text.toUpperCase()) : false;
    const sign = left === '-' || left === '+';
    return (
        sign &&
        (!earlier || earlier.kind === 'keyword' || (earlier.kind === 'operator' && !')]'.includes(earlier.text)))
    );
}

const operatorText = ({ kind, text }: Token): string => (kind === 'operator' ? text : '');
