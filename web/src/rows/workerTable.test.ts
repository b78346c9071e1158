import { expect, test, vi } from 'vitest';
import { openTable } from './workerTable.svelte';

// a worker that never answers, and the page's address, from which that of the service is taken
vi.hoisted(() => {
    class SilentWorker {
        postMessage(): void {}
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
