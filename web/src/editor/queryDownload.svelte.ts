/** A query's result as a file, without a table on the page. What would take long becomes a job. */

import { fileName, saveFile } from '../browser/saveFile';
import { EXTENSIONS } from '../tap/formatExtensions';
import { askService, queryBody } from '../tap/tapRequest';
import { text } from '../text';
import { shouldRunAsJob } from './tabEstimate.svelte';
import type { QueryTab } from './queryTab.svelte';

const said = text.editor.run;

export class QueryDownload {
    busy = $state(false);
    said = $state('');
    failed = $state(false);

    constructor(readonly tab: QueryTab) {}

    /** Fetch and save it. What goes wrong is a sentence in `said`. */
    async start(): Promise<void> {
        [this.busy, this.said, this.failed] = [true, '', false];
        try {
            this.said = await this.#fetchFile();
        } catch (error) {
            [this.said, this.failed] = [(error as Error).message, true];
        } finally {
            this.busy = false;
        }
    }

    async #fetchFile(): Promise<string> {
        const { tab } = this;
        const { estimate } = tab.foreseen;
        if (tab.mode === 'async' || (tab.mode === 'auto' && estimate && shouldRunAsJob(estimate, tab.maxrec))) {
            tab.start('async');
            return said.longDownload;
        }
        const { adql, format, maxrec, sent } = tab;
        const body = queryBody({ QUERY: adql, RESPONSEFORMAT: format, MAXREC: maxrec }, sent);
        const answer = await askService('sync', { method: 'POST', body });
        const name = fileName(tab.title, EXTENSIONS[tab.format] ?? 'dat');
        saveFile(await answer.blob(), name);
        return answer.headers.get('Skyhouse-Query-Status') === 'OVERFLOW' ? said.cut(name) : said.downloaded(name);
    }
}
