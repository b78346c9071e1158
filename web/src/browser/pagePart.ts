/** Parts of the portal that are loaded when they are needed. */

import { text } from '../text';

/** unreachable: no answer; updated: the service has another version of the portal; stuck: only a new page helps */
type LoadProblem = 'unreachable' | 'updated' | 'stuck';

/** A part that could not be loaded. Its message is a sentence for the user. */
export class PartError extends Error {
    override readonly name = 'PartError';

    constructor(readonly problem: LoadProblem) {
        super(
            { unreachable: text.common.noAnswer, updated: text.common.updated, stuck: text.common.notLoaded }[problem],
        );
    }
}

let hasFailed = false;

/** Load a part with `load`, a function that calls import(). May be called again after a failure. Raises PartError. */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
    try {
        if (hasFailed) await reloadStyles();
        return await load();
    } catch {
        hasFailed = true;
        throw new PartError(await findProblem());
    }
}

/** Find out why a part could not be loaded: some browsers remember a failure until the page is loaded again. */
async function findProblem(): Promise<LoadProblem> {
    try {
        const answer = await fetch(new URL('./', document.baseURI), { cache: 'no-store' });
        return answer.ok ? compareVersions(await answer.text()) : 'unreachable';
    } catch {
        return 'unreachable';
    }
}

function compareVersions(page: string): LoadProblem {
    const script = document.querySelector<HTMLScriptElement>('script[type="module"][src]');
    const name = script?.src.split('/').at(-1) ?? '';
    return page.includes(name) ? 'stuck' : 'updated';
}

/** Load style sheets again that did not arrive: import() asks for each only once. */
async function reloadStyles(): Promise<void> {
    const links = [...document.head.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')];
    await Promise.all(links.filter((link) => !hasRules(link)).map(reloadStyle));
}

function hasRules({ sheet }: HTMLLinkElement): boolean {
    try {
        return sheet !== null && sheet.cssRules.length > 0;
    } catch {
        // the answer was an error
        return false;
    }
}

function reloadStyle(link: HTMLLinkElement): Promise<void> {
    const again = link.cloneNode() as HTMLLinkElement;
    return new Promise((resolve, reject) => {
        again.onload = () => resolve();
        again.onerror = () => reject(new Error(link.href));
        link.replaceWith(again);
    });
}
