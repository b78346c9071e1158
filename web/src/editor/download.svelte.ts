/** A query's result as a file, without a table on the page. What would take long becomes a job. */

import { save } from '../handover';
import { ask, form, multipart } from '../tap/service';
import { text } from '../text';
import { fileName } from './formats';
import { isLong } from './foreseen.svelte';
import type { QueryTab } from './tab.svelte';

const said = text.editor.run;

export class Download {
    busy = $state(false);
    said = $state('');
    failed = $state(false);

    constructor(readonly tab: QueryTab) {}

    /** Fetch and save it. What goes wrong is a sentence in `said`. */
    async start(): Promise<void> {
        [this.busy, this.said, this.failed] = [true, '', false];
        try {
            this.said = await this.#done();
        } catch (error) {
            [this.said, this.failed] = [(error as Error).message, true];
        } finally {
            this.busy = false;
        }
    }

    async #done(): Promise<string> {
        const { tab } = this;
        const { estimate } = tab.foreseen;
        if (tab.mode === 'async' || (tab.mode === 'auto' && estimate && isLong(estimate, tab.maxrec))) {
            tab.start('async');
            return said.longDownload;
        }
        const answer = await ask('sync', { method: 'POST', body: body(tab) });
        const name = fileName(tab.title, tab.format);
        save(await answer.blob(), name);
        return answer.headers.get('Skyhouse-Query-Status') === 'OVERFLOW' ? said.cut(name) : said.downloaded(name);
    }
}

function body({ adql, maxrec, format, sent: files }: QueryTab): URLSearchParams | FormData {
    const values = form({ LANG: 'ADQL', QUERY: adql, RESPONSEFORMAT: format, MAXREC: maxrec });
    for (const name of Object.keys(files)) values.append('UPLOAD', `${name},param:${name}`);
    return Object.keys(files).length > 0 ? multipart(values, files) : values;
}
