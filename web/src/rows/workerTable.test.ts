import { expect, test, vi } from 'vitest';
import { openTable } from './workerTable.svelte';
import type { FromWorker } from './workerMessages';

// a worker that says nothing by itself, and the page's address, from which the address of the service is derived
vi.hoisted(() => {
    class SilentWorker {
        static last: SilentWorker;
        onmessage?: (event: { data: FromWorker }) => void;
        readonly asked: unknown[] = [];
        constructor() {
            SilentWorker.last = this;
        }
        postMessage(asked: unknown): void {
            this.asked.push(asked);
        }
        terminate(): void {}
    }
    Object.assign(globalThis, { document: { baseURI: 'https://example.org/sky/' }, Worker: SilentWorker });
});

test('a table that is closed while it is stopped, sorted and filtered raises nothing', async () => {
    const raised: unknown[] = [];
    const note = (error: unknown) => void raised.push(error);
    process.on('unhandledRejection', note);
    const table = openTable({ kind: 'sync', query: 'SELECT 1', maxrec: 5 });
    table.stop();
    const arranging = [table.sortBy([{ column: 0, descending: true }]), table.filterBy([{ column: 0, min: 1 }])];
    const asked = table.readOrder();
    table.close();
    expect(await Promise.all(arranging)).toEqual([undefined, undefined]);
    // who asks for rows is told
    await expect(asked).rejects.toHaveProperty('name', 'Closed');
    await new Promise((resolve) => setTimeout(resolve));
    process.off('unhandledRejection', note);
    expect(raised).toEqual([]);
});

test('the first cells come with the first rows, until the order changes', async () => {
    const table = openTable({ kind: 'sync', query: 'SELECT 1', maxrec: 5 });
    const worker = (Worker as unknown as { last: { onmessage(event: { data: FromWorker }): void; asked: unknown[] } })
        .last;
    await vi.waitFor(() => expect(worker.asked).toHaveLength(1));
    const cells = [
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
    ];
    const firstPage = { rows: Uint32Array.of(0, 1, 2), cells };
    worker.onmessage({ data: { news: 'rows', rows: 9, shown: 9, version: 0, bytes: 90, firstPage } });
    expect(await table.readPage(1, 3, [1, 0])).toEqual({
        rows: Uint32Array.of(1, 2),
        cells: [
            ['b', 2],
            ['c', 3],
        ],
    });
    // the header is at index -1
    expect((await table.readPage(-1, 2, [])).rows).toEqual(Uint32Array.of(0, 1));
    expect(worker.asked).toHaveLength(1);
    const elsewhere = [table.readPage(2, 4, [0]), table.readPage(0, 2, [2])];
    expect(worker.asked).toHaveLength(3);
    worker.onmessage({ data: { news: 'rows', rows: 3, shown: 3, version: 1, bytes: 90 } });
    elsewhere.push(table.readPage(0, 2, [0]));
    expect(worker.asked).toHaveLength(4);
    table.close();
    await Promise.allSettled(elsewhere);
});
