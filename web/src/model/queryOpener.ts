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
}

export interface QueryOpener {
    /** Open a query in a new tab and go there. */
    open(adql: string, options?: OpenOptions): void;
    /** Insert text at the cursor of the current query, and go there. */
    insert(text: string): void;
    /** Show the result of a job, or a table from another program, in a tab of its own. */
    show(source: Source, title: string): void;
}

let opener: QueryOpener | undefined;

export function provideQueryOpener(provided: QueryOpener): void {
    opener = provided;
}

export const openQuery: QueryOpener['open'] = (adql, options) => opener?.open(adql, options);
export const insertIntoQuery: QueryOpener['insert'] = (text) => opener?.insert(text);
export const showResult: QueryOpener['show'] = (source, title) => opener?.show(source, title);
