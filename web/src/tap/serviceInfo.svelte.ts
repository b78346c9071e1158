/** What the service calls itself, and what it says that it can do. */

import { untrack } from 'svelte';
import { text } from '../text';
import { credentials } from './credentials.svelte';
import { rows } from './jsonRows';
import { childText, document_, elements } from './tapRequest';

class About {
    title = $state<string>(text.common.product);

    #told = false;

    #capabilities: Promise<Document> | undefined;

    constructor() {
        // a service that tells nothing to strangers is asked again once somebody has signed in
        $effect.root(() => {
            $effect(() => {
                if (credentials.header && !this.#told) untrack(() => void this.load());
            });
        });
    }

    /** Learn the title. A service that does not answer keeps the product's: what asks it for more says so. */
    async load(): Promise<void> {
        const said = await rows('SELECT table_name FROM TAP_SCHEMA.tables', { maxrec: 0 }).catch(() => undefined);
        if (!said?.service) return;
        this.title = said.service;
        this.#told = true;
    }

    /** The document of /capabilities, kept. Raises TapError. */
    capabilities(): Promise<Document> {
        if (this.#capabilities) return this.#capabilities;
        const asked = document_('capabilities');
        asked.catch(() => (this.#capabilities = undefined));
        this.#capabilities = asked;
        return asked;
    }

    /** Whether a function of this name is declared. Raises TapError. */
    async hasFunction(name: string): Promise<boolean> {
        return declares(await this.capabilities(), name);
    }
}

/** Whether the capabilities declare a function of this name. */
export function declares(capabilities: Document, name: string): boolean {
    const start = `${name}(`.toLowerCase();
    return elements(capabilities, 'feature').some((feature) =>
        childText(feature, 'form').toLowerCase().startsWith(start),
    );
}

export const service = new About();
