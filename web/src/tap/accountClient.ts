/** The signed-in user, and their own tokens: docs/administration.md. Functions raise TapError. */

import { askService } from './tapRequest';

interface Amount {
    readonly bytes: number;
    readonly tables: number;
}

export interface Account {
    readonly owner: string;
    readonly admin: boolean;
    /** of the user's tables */
    readonly used: Amount;
    readonly limits: Amount & { readonly days: number };
}

export interface Token {
    readonly id: string;
    readonly label: string;
    /** ISO 8601; null if it does not */
    readonly expires: string | null;
}

/** A token with its value, which the service sends only once. */
export interface NewToken extends Token {
    readonly token: string;
}

export async function fetchAccount(): Promise<Account> {
    return (await (await askService('mydb')).json()) as Account;
}

export async function listTokens(): Promise<readonly Token[]> {
    const { tokens } = (await (await askService('tokens')).json()) as { tokens: Token[] };
    return tokens;
}

export async function createToken(label: string, days: number): Promise<NewToken> {
    const answer = await askService('tokens', jsonRequest('POST', { label, days }));
    return (await answer.json()) as NewToken;
}

export async function revokeToken(id: string): Promise<void> {
    await askService(`tokens/${encodeURIComponent(id)}`, { method: 'DELETE' });
}

/** A request with a JSON object: other sites' pages cannot send one. */
export function jsonRequest(method: string, content: Record<string, unknown>): RequestInit {
    return { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(content) };
}
