/** Who asks: kept until the browser's tab is closed, sent to this service alone. */

import { keep, kept } from '../browser/storedValues';

const session = () => sessionStorage;

/** The Authorization header of a name and a password. */
export function ofPassword(name: string, password: string): string {
    const bytes = new TextEncoder().encode(`${name}:${password}`);
    return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

/** The Authorization header of a token. */
export const ofToken = (token: string): string => `Bearer ${token.trim()}`;

class Credentials {
    /** the value of the Authorization header, '' if anonymous */
    header = $state(kept('authorization', '', session));
    /** the name to show, '' if anonymous or unknown (a token) */
    name = $state(kept('user', '', session));
    /** why the service wants to know who asks, in its words; '' if it does not */
    refused = $state('');

    /** `header` is of ofPassword or ofToken, `name` what the service calls its owner. */
    use(header: string, name: string): void {
        this.#set(header, name);
    }

    forget(): void {
        this.#set('', '');
    }

    #set(header: string, name: string): void {
        [this.header, this.name, this.refused] = [header, name, ''];
        keep('authorization', header || undefined, session);
        keep('user', name || undefined, session);
    }
}

export const credentials = new Credentials();
