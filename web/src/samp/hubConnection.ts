/** The connection to the SAMP hub on this computer, over the Web Profile. Errors are sentences for the user. */

import { samp, type ClientTracker, type Connection, type Handler, type Map as SampMap, type Message } from 'sampjs';
import { text } from '../text';

export { type Connection, type Message } from 'sampjs';

/** Address of the hub in the Web Profile. */
const HUB = 'http://localhost:21012/';
/** milliseconds */
const PAUSE = 250;
const [PING_SECONDS, ANSWER_SECONDS, CONSENT_SECONDS] = [5, 30, 180];

/** Another program at the hub. */
export interface Program {
    readonly id: string;
    readonly name: string;
    takes(mtype: string): boolean;
}

interface Callbacks {
    readonly handlers: Record<string, Handler>;
    programsChanged(programs: readonly Program[]): void;
    /** the hub has ended the connection */
    closed(): void;
}

/** Register at the hub, which asks the user, and listen. Raises Error with a sentence. */
export async function connectToHub(
    metadata: SampMap & { 'samp.name': string },
    callbacks: Callbacks,
): Promise<Connection> {
    const isThere = await callWithin<boolean>(PING_SECONDS, (done) => samp.ping(done)).catch(() => false);
    if (!isThere) throw new Error(text.samp.noHub);
    const connection = await callWithin<Connection>(CONSENT_SECONDS, (done, failed) =>
        samp.register(metadata['samp.name'], done, () => failed(new Error(text.samp.refused))),
    );
    // sampjs' own handler assigns to an undeclared variable, which modules forbid
    connection.close = () => callbacks.closed();
    slowPolling(connection);
    const tracker = new samp.ClientTracker();
    Object.assign(tracker.callHandler, callbacks.handlers);
    tracker.onchange = () => callbacks.programsChanged(listPrograms(tracker));
    await callHub(connection, 'declareMetadata', [metadata]);
    tracker.init(connection);
    await callWithin<void>(ANSWER_SECONDS, (done) => connection.setCallable(tracker, () => done()));
    await callHub(connection, 'declareSubscriptions', [tracker.calculateSubscriptions()]);
    return connection;
}

/** Pause between polls: some hubs answer at once when nothing has happened, and sampjs asks again at once. */
function slowPolling({ xClient }: Connection): void {
    const execute = xClient.execute.bind(xClient);
    let idle = 0;
    xClient.execute = (request, done, failed) => {
        if (!request.methodName.endsWith('.pullCallbacks')) return execute(request, done, failed);
        let asked: { abort(): void } | undefined;
        const answered = (events: readonly unknown[]) => {
            idle = events.length > 0 ? 0 : Date.now();
            done?.(events);
        };
        const pause = Math.max(idle + PAUSE - Date.now(), 0);
        const timer = setTimeout(() => (asked = execute(request, answered, failed)), pause);
        return { abort: () => (clearTimeout(timer), asked?.abort()) };
    };
}

/** Call the hub. Raises Error with the hub's message. */
export function callHub<T>(
    connection: Connection,
    method: 'callAndWait' | 'notify' | 'notifyAll' | 'declareMetadata' | 'declareSubscriptions',
    args: readonly unknown[],
): Promise<T> {
    type Method = (args: readonly unknown[], done: (result: T) => void, failed: (error: unknown) => void) => void;
    return callWithin(ANSWER_SECONDS, (done, failed) =>
        (connection[method] as unknown as Method).call(connection, args, done, (error) => failed(toError(error))),
    );
}

export function makeMessage(mtype: string, parameters: SampMap): Message {
    return new samp.Message(mtype, parameters);
}

/** Unregister; the browser sends it even after the page has gone. */
export function leaveHub(connection: Connection): void {
    const key = connection.regInfo?.['samp.private-key'];
    if (!key) return;
    const request = new samp.XmlRpcRequest('samp.webhub.unregister', [key]);
    navigator.sendBeacon(HUB, new Blob([request.toXml()], { type: 'text/plain' }));
}

function listPrograms(tracker: ClientTracker): Program[] {
    return (
        Object.keys(tracker.ids)
            // the hub is a client too
            .filter((id) => tracker.metas[id] && tracker.subs[id] && id !== tracker.connection.regInfo?.['samp.hub-id'])
            .map((id) => ({
                id,
                name: tracker.getName(id),
                takes: (mtype: string) => samp.isSubscribed(tracker.subs[id] ?? {}, mtype),
            }))
    );
}

function toError(error: unknown): Error {
    const { faultString } = (error ?? {}) as { faultString?: string };
    return new Error(faultString ?? text.samp.hubSilent);
}

/** Reject after a time: sampjs ignores HTTP errors of the hub. */
function callWithin<T>(
    seconds: number,
    work: (done: (result: T) => void, failed: (error: Error) => void) => void,
): Promise<T> {
    return new Promise<T>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(text.samp.hubSilent)), seconds * 1000);
        work(
            (result) => (clearTimeout(timer), resolve(result)),
            (error) => (clearTimeout(timer), reject(error)),
        );
    });
}
