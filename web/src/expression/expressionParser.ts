/** Parses expressions over the columns of a result: numbers and conditions of ADQL. */

import { isName, nameOf, splitTokens, type Token } from '../adql/adqlTokens';
import { columnTexts } from '../text/columnTexts';

/** What is wrong in an expression, at offsets [from, to) in UTF-16 units; `fix` replaces that part. */
export class ExpressionError extends Error {
    readonly from: number;
    readonly to: number;
    readonly fix: string | undefined;

    constructor(message: string, from: number, to: number, fix?: string) {
        super(message);
        [this.from, this.to, this.fix] = [from, to, fix];
    }
}

export type BinarySign = '+' | '-' | '*' | '/' | '=' | '<>' | '<' | '>' | '<=' | '>=' | 'AND' | 'OR';

type Parts =
    | { readonly type: 'number'; readonly value: number; readonly isInteger: boolean }
    | { readonly type: 'text'; readonly value: string }
    | { readonly type: 'truth'; readonly value: boolean }
    | { readonly type: 'null' }
    | { readonly type: 'column'; readonly name: string; readonly isDelimited: boolean }
    | { readonly type: 'negative' | 'not'; readonly of: Node }
    | { readonly type: 'isNull'; readonly of: Node; readonly isNegated: boolean }
    | { readonly type: 'binary'; readonly sign: BinarySign; readonly left: Node; readonly right: Node }
    | { readonly type: 'call'; readonly name: string; readonly args: readonly Node[] }
    | { readonly type: 'case'; readonly whens: readonly When[]; readonly otherwise: Node | undefined };

export type Node = Parts & { readonly from: number; readonly to: number };

export interface When {
    readonly condition: Node;
    readonly value: Node;
}

/** Longer expressions are refused, so that none nests too deeply. */
const MAX_EXPRESSION = 2000;

/** Parse an expression. Raises ExpressionError. */
export function parseExpression(written: string): Node {
    if (written.length > MAX_EXPRESSION)
        throw new ExpressionError(columnTexts.errors.tooLong(MAX_EXPRESSION), 0, written.length);
    return new ExpressionParser(written).parseWhole();
}

const COMPARED = new Set(['=', '<>', '!=', '<', '>', '<=', '>=']);

class ExpressionParser {
    readonly #tokens: Token[];
    readonly #end: number;
    #at = 0;

    constructor(written: string) {
        this.#tokens = splitTokens(written).filter(({ kind }) => kind !== 'comment');
        this.#end = written.trimEnd().length;
    }

    parseWhole(): Node {
        if (!this.#tokens.length) throw new ExpressionError(columnTexts.errors.empty, 0, 0);
        const whole = this.#parseOr();
        const rest = this.#tokens[this.#at];
        if (rest) throw this.#errorAt(rest);
        return whole;
    }

    #parseOr(): Node {
        let left = this.#parseAnd();
        while (this.#take('OR')) left = this.#join('OR', left, this.#parseAnd());
        return left;
    }

    #parseAnd(): Node {
        let left = this.#parseNot();
        while (this.#take('AND')) left = this.#join('AND', left, this.#parseNot());
        return left;
    }

    #parseNot(): Node {
        const not = this.#take('NOT');
        if (!not) return this.#parseComparison();
        const of = this.#parseNot();
        return { type: 'not', of, from: not.from, to: of.to };
    }

    #parseComparison(): Node {
        const left = this.#parseSum();
        const token = this.#tokens[this.#at];
        if (token && COMPARED.has(token.text)) {
            this.#at++;
            return this.#join(token.text === '!=' ? '<>' : (token.text as BinarySign), left, this.#parseSum());
        }
        if (this.#take('IS')) {
            const isNegated = this.#take('NOT') !== undefined;
            const { to } = this.#expect('NULL');
            return { type: 'isNull', of: left, isNegated, from: left.from, to };
        }
        const negated = this.#tokens[this.#at + 1]?.text ?? '';
        const not = ['BETWEEN', 'IN'].includes(negated) ? this.#take('NOT') : undefined;
        const found = this.#take('BETWEEN') ? this.#parseBetween(left) : this.#take('IN') ? this.#parseIn(left) : left;
        return not ? { type: 'not', of: found, from: found.from, to: found.to } : found;
    }

    #parseBetween(left: Node): Node {
        const low = this.#parseSum();
        this.#expect('AND');
        const high = this.#parseSum();
        return this.#join('AND', this.#join('>=', left, low), this.#join('<=', left, high));
    }

    #parseIn(left: Node): Node {
        this.#expect('(');
        let found = this.#join('=', left, this.#parseSum());
        while (this.#take(',')) found = this.#join('OR', found, this.#join('=', left, this.#parseSum()));
        this.#expect(')');
        return found;
    }

    #parseSum(): Node {
        let left = this.#parseProduct();
        for (let sign = this.#take('+', '-'); sign; sign = this.#take('+', '-'))
            left = this.#join(sign.text as BinarySign, left, this.#parseProduct());
        return left;
    }

    #parseProduct(): Node {
        let left = this.#parseSigned();
        for (let sign = this.#take('*', '/'); sign; sign = this.#take('*', '/')) {
            const next = this.#tokens[this.#at];
            if (sign.text === '*' && next?.text === '*')
                throw new ExpressionError(columnTexts.errors.power, sign.from, next.to);
            left = this.#join(sign.text as BinarySign, left, this.#parseSigned());
        }
        return left;
    }

    #parseSigned(): Node {
        const sign = this.#take('+', '-');
        if (!sign) return this.#parsePrimary();
        const of = this.#parseSigned();
        return sign.text === '+' ? of : { type: 'negative', of, from: sign.from, to: of.to };
    }

    #parsePrimary(): Node {
        const token = this.#tokens[this.#at++];
        if (!token) throw new ExpressionError(columnTexts.errors.ends, this.#end, this.#end);
        const { from, to } = token;
        if (token.text === '(') {
            const inner = this.#parseOr();
            return { ...inner, from, to: this.#expect(')').to };
        }
        if (this.#tokens[this.#at]?.text === '(' && (isName(token) || token.kind === 'keyword'))
            return this.#parseCall(token);
        if (token.kind === 'number') return readNumber(token);
        if (token.kind === 'string')
            return { type: 'text', value: token.text.slice(1, -1).replaceAll("''", "'"), from, to };
        if (isName(token)) return { type: 'column', name: nameOf(token), isDelimited: token.kind === 'name', from, to };
        if (token.text === 'CASE') return this.#parseCase(token);
        if (token.text === 'NULL') return { type: 'null', from, to };
        if (token.text === 'TRUE' || token.text === 'FALSE')
            return { type: 'truth', value: token.text === 'TRUE', from, to };
        throw this.#errorAt(token);
    }

    #parseCall(token: Token): Node {
        this.#at++;
        const args: Node[] = [];
        if (this.#tokens[this.#at]?.text !== ')') {
            args.push(this.#parseOr());
            while (this.#take(',')) args.push(this.#parseOr());
        }
        return { type: 'call', name: nameOf(token).toUpperCase(), args, from: token.from, to: this.#expect(')').to };
    }

    #parseCase({ from }: Token): Node {
        const compared = this.#tokens[this.#at]?.text === 'WHEN' ? undefined : this.#parseOr();
        const whens: When[] = [];
        do {
            this.#expect('WHEN');
            const tested = this.#parseOr();
            const condition = compared ? this.#join('=', compared, tested) : tested;
            this.#expect('THEN');
            whens.push({ condition, value: this.#parseOr() });
        } while (this.#tokens[this.#at]?.text === 'WHEN');
        const otherwise = this.#take('ELSE') ? this.#parseOr() : undefined;
        return { type: 'case', whens, otherwise, from, to: this.#expect('END').to };
    }

    #join(sign: BinarySign, left: Node, right: Node): Node {
        return { type: 'binary', sign, left, right, from: left.from, to: right.to };
    }

    /** Take the next token if it is one of these. */
    #take(...wanted: readonly string[]): Token | undefined {
        const token = this.#tokens[this.#at];
        if (!token || !wanted.includes(token.text) || token.kind === 'name' || token.kind === 'string')
            return undefined;
        this.#at++;
        return token;
    }

    #expect(wanted: string): Token {
        const found = this.#take(wanted);
        if (found) return found;
        const token = this.#tokens[this.#at];
        const [from, to] = token ? [token.from, token.to] : [this.#end, this.#end];
        throw new ExpressionError(columnTexts.errors.expected(wanted, token?.text), from, to);
    }

    #errorAt({ text: written, kind, from, to }: Token): ExpressionError {
        const errors = columnTexts.errors;
        if (kind === 'open') return new ExpressionError(errors.open(written[0]!), from, to);
        if (written === '^') return new ExpressionError(errors.power, from, to);
        if (kind === 'keyword') return new ExpressionError(errors.keyword(written), from, to, `"${written}"`);
        return new ExpressionError(errors.unexpected(written), from, to);
    }
}

function readNumber({ text: written, from, to }: Token): Node {
    const value = Number(written);
    if (Number.isNaN(value)) throw new ExpressionError(columnTexts.errors.number(written), from, to);
    return { type: 'number', value, isInteger: /^\d+$/.test(written), from, to };
}
