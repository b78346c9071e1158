/** Tokens by their parentheses: what scope.ts reads queries from. */

import type { Token } from './adqlTokens';

/** What stands between parentheses. `from` is at the opening one, `to` after the closing one, or beyond the text. */
export interface Group {
    readonly kind: 'group';
    readonly items: readonly Node[];
    readonly from: number;
    readonly to: number;
}

export type Node = Token | Group;

/** The tokens, without comments, as nested groups; groups that are not closed end with the text. */
export function groupTokens(tokens: readonly Token[]): Node[] {
    const root: Node[] = [];
    const open: { from: number; items: Node[] }[] = [];
    const here = (): Node[] => open.at(-1)?.items ?? root;
    const close = (to: number): void => {
        const group = open.pop();
        if (group) here().push({ kind: 'group', items: group.items, from: group.from, to });
    };
    for (const token of tokens) {
        if (token.kind === 'comment') continue;
        if (isOperator(token, '(')) open.push({ from: token.from, items: [] });
        else if (isOperator(token, ')')) close(token.to);
        else here().push(token);
    }
    while (open.length > 0) close(Infinity);
    return root;
}

/** Is the offset between the parentheses? */
export const isInside = (group: Group, at: number): boolean => at > group.from && at < group.to;

export const isGroup = (node: Node | undefined): node is Group => node?.kind === 'group';

export function isKeyword(node: Node | undefined, ...words: readonly string[]): node is Token {
    return node?.kind === 'keyword' && words.includes(node.text);
}

export function isOperator(node: Node | undefined, text: string): boolean {
    return node?.kind === 'operator' && node.text === text;
}

/** Is it a subquery? */
export const isQuery = (node: Node | undefined): boolean =>
    isGroup(node) && (isKeyword(node.items[0], 'SELECT', 'WITH') || isQuery(node.items[0]));

/** The parts of a list, apart at what `separates`. */
export function splitNodes(nodes: readonly Node[], separates: (node: Node) => boolean): Node[][] {
    const parts: Node[][] = [[]];
    for (const node of nodes) {
        if (separates(node)) parts.push([]);
        else parts.at(-1)!.push(node);
    }
    return parts;
}
