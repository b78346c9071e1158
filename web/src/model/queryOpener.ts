/**
 * Opens queries and results on the query page. The editor, which stands above the pages that offer queries, provides
 * the tabs when it is loaded.
 */

import type { Source, View } from './resultModel';

export interface OpenOptions {
    readonly title?: string;
    /** run the query at once */
    readonly run?: boolean;
    /** tables that the query uploads, by their names without TAP_UPLOAD */
    readonly files?: Record<string, Blob>;
    /** the part of the result that is shown first */
    readonly view?: View;
    /** the layout of the result as JSON (results/resultLayout) */
    readonly layout?: string;
}

export interface QueryOpener {
    /** Open a query in a new tab and go there. */
    openQuery(adql: string, options?: OpenOptions): void;
    /** Insert text at the cursor of the current query, and go there. */
    insertText(text: string): void;
    /** Show the result of a job or a share, or a table from another program, in its own tab. */
    showResult(source: Source, title: string, layout?: string): void;
}

let opener: QueryOpener | undefined;

export function provideQueryOpener(provided: QueryOpener): void {
    opener = provided;
}

export const openQuery: QueryOpener['openQuery'] = (adql, options) => opener?.openQuery(adql, options);
export const insertIntoQuery: QueryOpener['insertText'] = (text) => opener?.insertText(text);
export const showResult: QueryOpener['showResult'] = (source, title, layout) =>
    opener?.showResult(source, title, layout);
