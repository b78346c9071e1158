/** Who asks: kept until the browser's tab is closed, sent to this service alone. */

import { keep, kept } from '../kept';

const session = () => sessionStorage;

class Credentials {
    /** the value of the Authorization header, '' if anonymous */
    header = $state(kept('authorization', '', session));
    /** the name to show, '' if anonymous or unknown (a token) */
    name = $state(kept('user', '', session));

    withPassword(name: string, password: string): void {
        const bytes = new TextEncoder().encode(`${name}:${password}`);
        this.#set(`Basic ${btoa(String.fromCharCode(...bytes))}`, name);
    }

    withToken(token: string): void {
        this.#set(`Bearer ${token.trim()}`, '');
    }

    forget(): void {
        this.#set('', '');
    }

    #set(header: string, name: string): void {
        [this.header, this.name] = [header, name];
        keep('authorization', header || undefined, session);
        keep('user', name || undefined, session);
    }
}

export const credentials = new Credentials();
