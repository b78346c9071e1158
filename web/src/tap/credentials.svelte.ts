/** Who asks: kept until the browser's tab is closed, sent to this service alone. */

import { writeStored, readStored } from '../browser/storedValues';

const session = () => sessionStorage;

/** The Authorization header of a name and a password. */
export function passwordHeader(name: string, password: string): string {
    const bytes = new TextEncoder().encode(`${name}:${password}`);
    return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

/** The Authorization header of a token. */
export const tokenHeader = (token: string): string => `Bearer ${token.trim()}`;

class Credentials {
    /** the value of the Authorization header, '' if anonymous */
    header = $state(readStored('authorization', '', session));
    /** the name to show, '' if anonymous or unknown (a token) */
    name = $state(readStored('user', '', session));
    /** why the service wants to know who asks, in its words; '' if it does not */
    refused = $state('');

    /** `header` is of ofPassword or ofToken, `name` what the service calls its owner. */
    signIn(header: string, name: string): void {
        this.#setHeader(header, name);
    }

    signOut(): void {
        this.#setHeader('', '');
    }

    #setHeader(header: string, name: string): void {
        [this.header, this.name, this.refused] = [header, name, ''];
        writeStored('authorization', header || undefined, session);
        writeStored('user', name || undefined, session);
    }
}

export const credentials = new Credentials();
