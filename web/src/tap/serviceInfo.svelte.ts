/** The service's title and capabilities. */

import { untrack } from 'svelte';
import { text } from '../text';
import { credentials } from './credentials.svelte';
import { queryRows } from './jsonRows';
import { childText, fetchDocument, findElements } from './tapRequest';

class ServiceInfo {
    title = $state<string>(text.common.product);

    #hasTitle = false;

    #capabilities: Promise<Document> | undefined;

    constructor() {
        // a service that refuses anonymous users is asked again after sign-in
        $effect.root(() => {
            $effect(() => {
                if (credentials.header && !this.#hasTitle) untrack(() => void this.loadTitle());
            });
        });
    }

    /** Load the title. If the service does not answer, the default title is kept; other requests report the failure. */
    async loadTitle(): Promise<void> {
        const answer = await queryRows('SELECT table_name FROM TAP_SCHEMA.tables', { maxrec: 0 }).catch(
            () => undefined,
        );
        if (!answer?.service) return;
        this.title = answer.service;
        this.#hasTitle = true;
    }

    /** Load the document of /capabilities, cached. Raises TapError. */
    loadCapabilities(): Promise<Document> {
        if (this.#capabilities) return this.#capabilities;
        const asked = fetchDocument('capabilities');
        asked.catch(() => (this.#capabilities = undefined));
        this.#capabilities = asked;
        return asked;
    }

    /** Whether a function is declared. Raises TapError. */
    async hasFunction(name: string): Promise<boolean> {
        return declaresFunction(await this.loadCapabilities(), name);
    }
}

/** Whether the capabilities declare a function. */
export function declaresFunction(capabilities: Document, name: string): boolean {
    const start = `${name}(`.toLowerCase();
    return findElements(capabilities, 'feature').some((feature) =>
        childText(feature, 'form').toLowerCase().startsWith(start),
    );
}

export const service = new ServiceInfo();
