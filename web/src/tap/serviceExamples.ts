/** The service's examples: DALI's document, XHTML with RDFa. */

import { catalogue } from './tableCatalogue.svelte';
import { fetchDocument, findElements } from './tapRequest';

export interface Example {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly query: string;
    /** names as in the document */
    readonly tables: readonly string[];
}

let kept: Promise<readonly Example[]> | undefined;
let version = -1;

/** Load /examples, cached until the tables change. Raises TapError. */
export function loadExamples(): Promise<readonly Example[]> {
    if (kept && version === catalogue.version) return kept;
    version = catalogue.version;
    const asked = fetchDocument('examples').then(examplesOf);
    asked.catch(() => (kept = undefined));
    kept = asked;
    return asked;
}

/** Read the examples of a document, without those that have no query. */
export function examplesOf(document: Document): Example[] {
    const found = findElements(document, '*').filter((element) => element.getAttribute('typeof') === 'example');
    return found.map(exampleOf).filter((example) => example.query);
}

function exampleOf(element: Element): Example {
    const inside = findElements(element, '*');
    const valuesOf = (property: string) =>
        inside
            .filter((each) => each.getAttribute('property') === property)
            .map((each) => each.textContent?.trim() ?? '');
    const plain = inside.filter((each) => each.localName === 'p' && !holdsProperty(each));
    return {
        id: element.getAttribute('id') ?? '',
        name: valuesOf('name')[0] ?? '',
        description: plain.map((each) => each.textContent?.trim() ?? '').join('\n'),
        query: valuesOf('query')[0] ?? '',
        tables: valuesOf('table'),
    };
}

function holdsProperty(element: Element): boolean {
    return [element, ...findElements(element, '*')].some((each) => each.hasAttribute('property'));
}
