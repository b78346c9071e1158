/** What the service calls itself, and what it says that it can do. */

import { untrack } from 'svelte';
import { text } from '../text';
import { credentials } from './credentials.svelte';
import { queryRows } from './jsonRows';
import { childText, fetchDocument, findElements } from './tapRequest';

class ServiceInfo {
    title = $state<string>(text.common.product);

    #told = false;

    #capabilities: Promise<Document> | undefined;

    constructor() {
        // a service that tells nothing to strangers is asked again once somebody has signed in
        $effect.root(() => {
            $effect(() => {
                if (credentials.header && !this.#told) untrack(() => void this.loadTitle());
            });
        });
    }

    /** Learn the title. A service that does not answer keeps the product's: what asks it for more says so. */
    async loadTitle(): Promise<void> {
        const said = await queryRows('SELECT table_name FROM TAP_SCHEMA.tables', { maxrec: 0 }).catch(() => undefined);
        if (!said?.service) return;
        this.title = said.service;
        this.#told = true;
    }

    /** The document of /capabilities, kept. Raises TapError. */
    loadCapabilities(): Promise<Document> {
        if (this.#capabilities) return this.#capabilities;
        const asked = fetchDocument('capabilities');
        asked.catch(() => (this.#capabilities = undefined));
        this.#capabilities = asked;
        return asked;
    }

    /** Whether a function of this name is declared. Raises TapError. */
    async hasFunction(name: string): Promise<boolean> {
        return declaresFunction(await this.loadCapabilities(), name);
    }
}

/** Whether the capabilities declare a function of this name. */
export function declaresFunction(capabilities: Document, name: string): boolean {
    const start = `${name}(`.toLowerCase();
    return findElements(capabilities, 'feature').some((feature) =>
        childText(feature, 'form').toLowerCase().startsWith(start),
    );
}

export const service = new ServiceInfo();
