/** The credentials: kept until the browser tab is closed, sent only to this service. */

import { writeStored, readStored } from '../browser/storedValues';

const sessionStore = () => sessionStorage;

/** Return the Authorization header for a name and a password. */
export function passwordHeader(name: string, password: string): string {
    const bytes = new TextEncoder().encode(`${name}:${password}`);
    return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

/** Return the Authorization header for a token. */
export const tokenHeader = (token: string): string => `Bearer ${token.trim()}`;

class Credentials {
    /** Authorization header; '' if anonymous */
    header = $state(readStored('authorization', '', sessionStore));
    /** name to show; '' if anonymous or unknown (a token) */
    name = $state(readStored('user', '', sessionStore));
    /** the service's message that it needs credentials; '' if none */
    refused = $state('');

    /** `header` is from `passwordHeader` or `tokenHeader`, `name` the owner as the service reports it. */
    signIn(header: string, name: string): void {
        this.#setHeader(header, name);
    }

    signOut(): void {
        this.#setHeader('', '');
    }

    #setHeader(header: string, name: string): void {
        [this.header, this.name, this.refused] = [header, name, ''];
        writeStored('authorization', header || undefined, sessionStore);
        writeStored('user', name || undefined, sessionStore);
    }
}

export const credentials = new Credentials();
