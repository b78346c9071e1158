/** The part of sampjs that this page uses; the package has no types. */
declare module 'sampjs' {
    type Value = string | readonly Value[] | { readonly [name: string]: Value };
    export type Map = { readonly [name: string]: Value };
    export type Handler = (senderId: string, message: Message, isCall: boolean) => Map | undefined | void;
    type Result = (result: never) => void;
    type Failed = (error: unknown) => void;

    export class Message {
        constructor(mtype: string, parameters: Map);
        readonly 'samp.mtype': string;
        readonly 'samp.params': { readonly [name: string]: string };
    }

    interface XmlRpcClient {
        execute(
            request: { readonly methodName: string },
            done?: (result: readonly unknown[]) => void,
            failed?: Failed,
        ): { abort(): void };
    }

    export interface Connection {
        readonly xClient: XmlRpcClient;
        readonly regInfo?: { readonly 'samp.private-key': string; readonly 'samp.hub-id'?: string };
        callAndWait(args: [recipient: string, message: Message, seconds: string], done: Result, failed: Failed): void;
        notify(args: [recipient: string, message: Message], done: Result, failed: Failed): void;
        notifyAll(args: [message: Message], done: Result, failed: Failed): void;
        declareMetadata(args: [metadata: Map], done: Result, failed: Failed): void;
        declareSubscriptions(args: [subscriptions: Map], done: Result, failed: Failed): void;
        setCallable(client: ClientTracker, done: () => void): void;
        translateUrl(url: string): string;
        unregister(): void;
        close(): void;
    }

    export class ClientTracker {
        readonly ids: Record<string, true>;
        readonly metas: Record<string, { readonly 'samp.name'?: string }>;
        readonly subs: Record<string, Map>;
        readonly callHandler: Record<string, Handler>;
        connection: Connection;
        onchange: (() => void) | undefined;
        init(connection: Connection): void;
        calculateSubscriptions(): Map;
        getName(id: string): string;
    }

    export const samp: {
        readonly Message: typeof Message;
        readonly ClientTracker: typeof ClientTracker;
        readonly XmlRpcRequest: new (method: string, parameters: string[]) => { toXml(): string };
        ping(done: (running: boolean) => void): void;
        register(name: string, done: (connection: Connection) => void, failed: Failed): void;
        isSubscribed(subscriptions: Map, mtype: string): boolean;
    };
}
