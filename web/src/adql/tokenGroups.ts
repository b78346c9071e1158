/** Tokens nested by parentheses, for the analysis of scopes. */

import type { Token } from './adqlTokens';

/** The content of parentheses. `from` is at the opening one, `to` after the closing one or beyond the text. */
export interface Group {
    readonly kind: 'group';
    readonly items: readonly Node[];
    readonly from: number;
    readonly to: number;
}

export type Node = Token | Group;

/** Nest tokens without comments; unclosed groups end with the text. */
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

/** Whether the offset is between the parentheses. */
export const isInside = (group: Group, at: number): boolean => at > group.from && at < group.to;

export const isGroup = (node: Node | undefined): node is Group => node?.kind === 'group';

export function isKeyword(node: Node | undefined, ...words: readonly string[]): node is Token {
    return node?.kind === 'keyword' && words.includes(node.text);
}

export function isOperator(node: Node | undefined, text: string): boolean {
    return node?.kind === 'operator' && node.text === text;
}

/** Whether the node is a subquery. */
export const isQuery = (node: Node | undefined): boolean =>
    isGroup(node) && (isKeyword(node.items[0], 'SELECT', 'WITH') || isQuery(node.items[0]));

/** Split nodes at separators. */
export function splitNodes(nodes: readonly Node[], separates: (node: Node) => boolean): Node[][] {
    const parts: Node[][] = [[]];
    for (const node of nodes) {
        if (separates(node)) parts.push([]);
        else parts.at(-1)!.push(node);
    }
    return parts;
}
