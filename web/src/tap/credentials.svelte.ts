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
    /** as the service reported at sign-in; it decides again about each request */
    isAdmin = $state(readStored('admin', false, sessionStore));
    /** whether the sign-in dialog is open */
    isAsking = $state(false);
    /** the service's message that it needs credentials; '' if none */
    refused = $state('');

    /** `header` is from `passwordHeader` or `tokenHeader`, `name` the owner as the service reports it. */
    signIn(header: string, name: string, isAdmin: boolean): void {
        this.#setUser(header, name, isAdmin);
    }

    signOut(): void {
        this.#setUser('', '', false);
    }

    #setUser(header: string, name: string, isAdmin: boolean): void {
        [this.header, this.name, this.isAdmin, this.refused] = [header, name, isAdmin, ''];
        writeStored('authorization', header || undefined, sessionStore);
        writeStored('user', name || undefined, sessionStore);
        writeStored('admin', isAdmin || undefined, sessionStore);
    }
}

export const credentials = new Credentials();
