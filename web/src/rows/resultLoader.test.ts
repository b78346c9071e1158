import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Float64, Table, tableToIPC, vectorFromArray } from 'apache-arrow';
import { afterEach, expect, test } from 'vitest';
import { ResultLoader } from './resultLoader';
import { ArrangedRows } from './arrangedRows';
import type { WorkerNews, LoadRequest } from './workerMessages';

const START = `<VOTABLE><RESOURCE type="results"><INFO name="QUERY_STATUS" value="OK"/><TABLE>
<FIELD name="id" datatype="long"/><FIELD name="name" datatype="char" arraysize="*"/><FIELD name="ra" datatype="double"/>
<FIELD name="notngc" datatype="boolean"/><DATA><BINARY2><STREAM encoding="base64">
AAAAAAAAABrpAAAAB05HQzEyMTlAR47q1lt6M0YAAAAAAAAAARYAAAAGSUMwMjczQEYlv9RPMHlG`;
const END = '</STREAM></BINARY2></DATA></TABLE></RESOURCE></VOTABLE>';
const OVERFLOW = END.replace('</TABLE>', '</TABLE><INFO name="QUERY_STATUS" value="OVERFLOW">cut at 2 rows</INFO>');

let close = (): void => undefined;
afterEach(() => close());

/** A service that answers so; its address. */
async function serving(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
    const server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    close = () => (server.closeAllConnections(), server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Loaded {
    readonly store: ArrangedRows;
    readonly loading: ResultLoader;
    readonly news: WorkerNews[];
    readonly done: Promise<void>;
}

function load(base: string, from?: LoadRequest['from']): Loaded {
    const news: WorkerNews[] = [];
    const store = new ArrangedRows();
    const loading = new ResultLoader(store, (said) => news.push(said));
    const wanted = { authorization: 'Bearer x', sync: `${base}/sync`, from: from ?? { url: `${base}/result` } };
    return { store, loading, news, done: loading.loadResult(wanted) };
}

test('a whole result: its columns, rows, and that it is complete', async () => {
    const seen: (string | undefined)[] = [];
    const base = await serving((request, response) => {
        seen.push(request.headers.authorization);
        response.end(START + END);
    });
    const { store, news, done } = load(base);
    await done;
    expect(news.map((said) => said.news)).toEqual(['fields', 'rows', 'rows', 'complete']);
    expect(news[1]).toMatchObject({ rows: 2, firstPage: { rows: Uint32Array.of(0, 1) } });
    expect(news[1]).toHaveProperty(
        'firstPage.cells',
        [0, 1].map((row) => store.readRow(row, [0, 1, 2, 3])),
    );
    expect(news.at(-2)).toMatchObject({ rows: 2, shown: 2 });
    expect(news.at(-2)).not.toHaveProperty('firstPage');
    expect(store.readRow(0, [0, 1, 2, 3])).toEqual([6889n, 'NGC1219', 47.11654166666667, false]);
    expect(seen).toEqual(['Bearer x']);
});

test('a result that was cut says so in the words of the service', async () => {
    const { news, done } = load(await serving((_, response) => response.end(START + OVERFLOW)));
    await done;
    expect(news.at(-1)).toEqual({ news: 'complete', overflow: 'cut at 2 rows' });
});

test('an error of the service after the first rows is its failure, and the rows stay', async () => {
    const error = OVERFLOW.replace('OVERFLOW', 'ERROR').replace('cut at 2 rows', 'the engine has no memory');
    const { store, news, done } = load(await serving((_, response) => response.end(START + error)));
    await done;
    expect(news.at(-1)).toEqual({
        news: 'failed',
        failure: { reason: 'service', message: 'the engine has no memory' },
    });
    expect(store.rows).toBe(2);
});

test.each([
    ['the connection breaks', (response: ServerResponse) => response.write(START, () => response.destroy())],
    ['the document has no end', (response: ServerResponse) => response.end(START)],
])('a result is not whole if %s', async (_, answer) => {
    const { news, done } = load(await serving((_, response) => void answer(response)));
    await done;
    expect(news.at(-1)).toEqual({ news: 'failed', failure: { reason: 'broken off' } });
});

test('a stream of Arrow without QUERY_STATUS is not whole', async () => {
    const bytes = tableToIPC(new Table({ x: vectorFromArray([1, 2, 3], new Float64()) }), 'stream');
    const { store, news, done } = load(await serving((_, response) => response.end(bytes)));
    await done;
    expect(store.rows).toBe(3);
    expect(news.at(-1)).toEqual({ news: 'failed', failure: { reason: 'broken off' } });
});

test('what the service refuses is told with its words', async () => {
    const base = await serving((_, response) => response.writeHead(404).end('there is no such job'));
    const { news, done } = load(base);
    await done;
    const failure = { reason: 'refused', status: 404, body: 'there is no such job' };
    expect(news.at(-1)).toEqual({ news: 'failed', failure });
});

test('no answer is no result', async () => {
    const base = await serving((_, response) => response.end());
    close();
    const { news, done } = load(base);
    await done;
    expect(news.at(-1)).toEqual({ news: 'failed', failure: { reason: 'no answer' } });
});

test('stopped in between, what has come stays', async () => {
    const base = await serving((_, response) => void response.write(`${START}\n${'A'.repeat(200_000)}`));
    const { store, loading, news, done } = load(base);
    while (!store.rows) await new Promise((resolve) => setTimeout(resolve, 5));
    loading.stop();
    await done;
    expect(news.at(-1)).toEqual({ news: 'failed', failure: { reason: 'stopped' } });
    expect(store.readRow(1, [1])).toEqual(['IC0273']);
});

test('the form of a query goes with its files', async () => {
    let body = '';
    const base = await serving((request, response) => {
        request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
        request.on('end', () => response.end(START + END));
    });
    const { done } = load(base, { form: [['QUERY', 'SELECT 1']], files: { file0: new Blob(['a\n1\n']) } });
    await done;
    expect(body).toContain('name="QUERY"\r\n\r\nSELECT 1');
    expect(body).toMatch(/name="file0".*\r\n[^]*\r\n\r\na\n1\n/);
});

test('a format that the page does not read goes through the service', async () => {
    const asked: string[] = [];
    const base = await serving((request, response) => {
        asked.push(`${request.method} ${request.url}`);
        request.resume().on('end', () => response.end(request.url === '/sync' ? START + END : 'id,name\n1,Vega\n'));
    });
    const { news, done } = load(base);
    await done;
    expect(asked).toEqual(['GET /result', 'GET /result', 'POST /sync']);
    expect(news[0]).toMatchObject({ news: 'fields', asUpload: true });
    expect(news.at(-1)).toEqual({ news: 'complete', overflow: undefined });
});
