/** SAMP: exchanges tables and positions with other programs on this computer. */

import { loadPart } from '../browser/pagePart';
import { showResult } from '../model/queryOpener';
import { service } from '../tap/serviceInfo.svelte';
import { text } from '../text';
import type { Connection, Message, Program } from './hubConnection';
import { TableLinks } from './tableLinks';

/** A message from another program. Positions are ICRS, in degrees. */
export type Received =
    | { readonly kind: 'table'; readonly key: number; readonly from: string; readonly name: string }
    | { readonly kind: 'sky'; readonly key: number; readonly from: string; readonly ra: number; readonly dec: number };

/** sampjs is loaded on the first connection. */
const loadConnection = () => loadPart(() => import('./hubConnection'));
const MAX_RECEIVED = 20;
const ANSWER_SECONDS = '20';

class SampClient {
    state = $state<'off' | 'connecting' | 'on'>('off');
    /** why there is no connection, or why the last message failed */
    error = $state('');
    programs = $state.raw<readonly Program[]>([]);
    /** newest first */
    received = $state.raw<readonly Received[]>([]);
    /** tables that other programs have received from here */
    readonly links = new TableLinks((to, mtype, parameters) => this.#notifyOthers(to, mtype, parameters));
    #connection: Connection | undefined;
    #leave: () => void = () => undefined;
    #keys = 0;

    /** Connect unless connected. Return whether it succeeded; `error` holds the reason. */
    async connect(): Promise<boolean> {
        if (this.state !== 'off') return this.state === 'on';
        [this.state, this.error] = ['connecting', ''];
        try {
            const { connectToHub: connect, leaveHub: leave } = await loadConnection();
            const connection = await connect(clientMetadata(), {
                handlers: this.#makeHandlers(),
                programsChanged: (programs) => (this.programs = programs),
                closed: () => this.#handleClose(),
            });
            [this.#connection, this.state] = [connection, 'on'];
            this.#leave = () => leave(connection);
            window.addEventListener('pagehide', this.#leave);
        } catch (error) {
            this.#switchOff((error as Error).message);
        }
        return this.#connection !== undefined;
    }

    disconnect(): void {
        const connection = this.#connection;
        this.#switchOff('');
        connection?.unregister();
    }

    /**
     * Send the VOTable at `url` to a program, or to all if `to` is ''. Return the names of the recipients. Raises
     * Error.
     */
    async sendTable(url: string, name: string, to = ''): Promise<string[]> {
        const { callHub, makeMessage } = await loadConnection();
        const connection = this.#requireConnection();
        const message = makeMessage('table.load.votable', { url, name, 'table-id': url });
        if (!to) {
            const reached = await callHub<string[]>(connection, 'notifyAll', [message]);
            return reached.map((id) => this.#programName(id));
        }
        const answer = await callHub<Answer>(connection, 'callAndWait', [to, message, ANSWER_SECONDS]);
        const why = answer['samp.error']?.['samp.errortxt'];
        if (answer['samp.status'] !== 'samp.ok') throw new Error(text.samp.notTaken(this.#programName(to), why ?? ''));
        return [this.#programName(to)];
    }

    /** Point other programs at a position, in degrees. */
    pointAt(ra: number, dec: number): void {
        void this.#notifyOthers('', 'coord.pointAt.sky', { ra: String(ra), dec: String(dec) });
    }

    dismissReceived(key: number): void {
        this.received = this.received.filter((one) => one.key !== key);
    }

    #makeHandlers(): Record<string, (from: string, message: Message) => Record<string, never>> {
        const handled = (work: (from: string, parameters: Message['samp.params']) => void) => {
            return (from: string, message: Message) => (work(from, message['samp.params']), {});
        };
        return {
            'samp.app.ping': () => ({}),
            'table.load.votable': handled((from, given) => void this.#takeTable(from, given)),
            'coord.pointAt.sky': handled((from, { ra, dec }) => this.#takePosition(from, Number(ra), Number(dec))),
            'table.highlight.row': handled((from, given) => this.links.takeHighlight(from, given)),
            'table.select.rowList': handled((from, given) => this.links.takeSelection(from, given)),
        };
    }

    /** Fetch through the hub: the page may not contact other hosts. */
    async #takeTable(from: string, { url = '', name }: Message['samp.params']): Promise<void> {
        const title = name || decodeURIComponent(url.split('/').at(-1) ?? '') || text.samp.button;
        try {
            const answer = await this.#fetchThroughHub(encodeURIComponent(url));
            const file = new File([await answer.blob()], `${title}.vot`, { type: 'application/x-votable+xml' });
            showResult({ kind: 'file', file, name: title }, title);
            this.#addReceived({ kind: 'table', key: ++this.#keys, from: this.#programName(from), name: title });
        } catch (error) {
            const why = error instanceof TypeError ? text.samp.hubSilent : (error as Error).message;
            this.error = text.samp.notFetched(title, why);
        }
    }

    /** Return what the hub fetches from an encoded address. */
    async #fetchThroughHub(encoded: string): Promise<Response> {
        const answer = await fetch(this.#requireConnection().translateUrl('') + encoded, { credentials: 'omit' });
        if (answer.ok) return answer;
        // JSAMP's hub (TOPCAT) decodes twice, which matters for addresses with encoded characters
        if (encoded.includes('%25') && !encoded.includes('%2525'))
            return this.#fetchThroughHub(encodeURIComponent(encoded));
        throw new Error(text.samp.hubStatus(answer.status));
    }

    #takePosition(from: string, ra: number, dec: number): void {
        if (!Number.isFinite(ra) || !(Math.abs(dec) <= 90)) throw new Error(text.samp.noPosition);
        this.#addReceived({
            kind: 'sky',
            key: ++this.#keys,
            from: this.#programName(from),
            ra: ((ra % 360) + 360) % 360,
            dec,
        });
    }

    #addReceived(one: Received): void {
        this.received = [one, ...this.received].slice(0, MAX_RECEIVED);
    }

    /** Notify one program, or all if `to` is '', without waiting for an answer. */
    async #notifyOthers(to: string, mtype: string, parameters: Record<string, string | string[]>): Promise<void> {
        if (!this.#connection) return;
        const { callHub, makeMessage } = await loadConnection();
        const notice = makeMessage(mtype, parameters);
        try {
            await (to
                ? callHub(this.#connection, 'notify', [to, notice])
                : callHub(this.#connection, 'notifyAll', [notice]));
        } catch (error) {
            this.error = (error as Error).message;
        }
    }

    #programName(id: string): string {
        return this.programs.find((program) => program.id === id)?.name ?? id;
    }

    #requireConnection(): Connection {
        if (!this.#connection) throw new Error(this.error || text.samp.off);
        return this.#connection;
    }

    #handleClose(): void {
        if (!this.#connection) return;
        this.disconnect();
        this.error = text.samp.lost;
    }

    #switchOff(error: string): void {
        window.removeEventListener('pagehide', this.#leave);
        this.#connection = undefined;
        [this.state, this.error, this.programs] = ['off', error, []];
    }
}

interface Answer {
    readonly 'samp.status': 'samp.ok' | 'samp.warning' | 'samp.error';
    readonly 'samp.error'?: { readonly 'samp.errortxt'?: string };
}

function clientMetadata() {
    return {
        'samp.name': service.title,
        'samp.description.text': text.samp.description,
        'samp.icon.url': new URL('favicon.svg', document.baseURI).href,
        'samp.documentation.url': new URL('.', document.baseURI).href,
    };
}

export const samp = new SampClient();
