/** Downloads a query's result as a file without showing it. A long query runs as a job instead. */

import { fileName, saveFile } from '../browser/saveFile';
import { EXTENSIONS } from '../tap/formatExtensions';
import { askService, queryBody } from '../tap/tapRequest';
import { text } from '../text';
import { shouldRunAsJob } from './tabEstimate.svelte';
import { HATS } from './jobFormats';
import type { QueryTab } from './queryTab.svelte';

const texts = text.editor.run;

export class QueryDownload {
    busy = $state(false);
    message = $state('');
    failed = $state(false);

    constructor(readonly tab: QueryTab) {}

    /** Fetch and save the file. `message` reports the outcome. */
    async start(): Promise<void> {
        [this.busy, this.message, this.failed] = [true, '', false];
        try {
            this.message = await this.#fetchFile();
        } catch (error) {
            [this.message, this.failed] = [(error as Error).message, true];
        } finally {
            this.busy = false;
        }
    }

    async #fetchFile(): Promise<string> {
        const { tab } = this;
        const { estimate } = tab.estimateState;
        if (tab.format === HATS) {
            tab.start('async');
            return texts.collectionDownload;
        }
        if (tab.mode === 'async' || (tab.mode === 'auto' && estimate && shouldRunAsJob(estimate, tab.maxrec))) {
            tab.start('async');
            return texts.longDownload;
        }
        const { adql, format, maxrec, sent } = tab;
        const body = queryBody({ QUERY: adql, RESPONSEFORMAT: format, MAXREC: maxrec }, sent);
        const answer = await askService('sync', { method: 'POST', body });
        const name = fileName(tab.title, EXTENSIONS[tab.format] ?? 'dat');
        saveFile(await answer.blob(), name);
        return answer.headers.get('Skyhouse-Query-Status') === 'OVERFLOW' ? texts.cut(name) : texts.downloaded(name);
    }
}
