import { DOMParser } from '@xmldom/xmldom';
import { describe, expect, test, vi } from 'vitest';
import { copyBlock, copyRows, MAX_CELLS } from '../grid/copyCells';
import { chooseAll, chooseBetween, chooseOne, nextChosen, toggleOne } from '../grid/rowChoice';
import type { GridState } from '../grid/gridState.svelte';
import { extensionOf, formatsOf } from './serviceFormats';
import type { Source, Table, TextRequest } from '../model/resultModel';
import { describeFailure, loadRequestOf } from '../rows/workerTable.svelte';
import { votableAddress } from './resultDownload';

// the module that asks takes the service's address from the page's
const clipboard = vi.hoisted(() => {
    const written: string[] = [];
    Object.assign(globalThis, { document: { baseURI: 'https://example.org/sky/' } });
    const writeText = (text: string) => Promise.resolve(void written.push(text));
    Object.defineProperty(globalThis, 'navigator', { value: { clipboard: { writeText } }, configurable: true });
    return written;
});

const query: Source = { kind: 'sync', query: 'SELECT 1', maxrec: 5 };
const withFile: Source = { kind: 'sync', query: 'SELECT 2', files: { maxrec: new Blob(['a\n1']) } };

describe('what is asked', () => {
    test('the worker gets addresses as they are for everybody', () => {
        expect(loadRequestOf({ kind: 'job', id: 'a b' })).toMatchObject({
            sync: 'https://example.org/sky/tap/sync',
            from: { url: 'https://example.org/sky/tap/async/a%20b/results/result' },
        });
        expect(loadRequestOf(query)).toMatchObject({ from: { form: expect.arrayContaining([['FORMAT', 'arrow']]) } });
    });

    test('other programs get a VOTable, where it has an address', () => {
        expect(votableAddress(query)).toMatch(/^https:\/\/example.org\/sky\/tap\/sync\?.*FORMAT=votable/);
        expect(votableAddress({ kind: 'job', id: 'x' })).toBe('https://example.org/sky/tap/async/x/results/result');
        expect(votableAddress(withFile)).toBeUndefined();
        expect(votableAddress({ kind: 'file', name: 'x', file: new Blob() })).toBeUndefined();
        expect(votableAddress({ kind: 'sync', query: 'x'.repeat(9000) })).toBeUndefined();
    });
});

test('each serialization is offered once, with a name for people', () => {
    const mimes = ['application/x-votable+xml', 'application/x-votable+xml;serialization=BINARY2', 'application/x-new'];
    const source = mimes.map((mime) => `<outputFormat><mime>${mime}</mime></outputFormat>`).join('');
    const read = new DOMParser().parseFromString(`<c>${source}</c>`, 'application/xml') as unknown as Document;
    expect(formatsOf(read).map(({ title, extension }) => [title, extension])).toEqual([
        ['VOTable', 'vot'],
        ['application/x-new', 'dat'],
    ]);
    expect(extensionOf('text/csv; charset=utf-8')).toBe('csv');
});

test.each([
    [{ reason: 'refused', status: 400, body: 'there is no table x' }, 'there is no table x'],
    [{ reason: 'refused', status: 502, body: '' }, 'status 502'],
    [{ reason: 'broken off' }, '1,234 rows: the result is incomplete'],
    [{ reason: 'unreadable', what: 'dictionaries' }, 'dictionaries'],
    [{ reason: 'memory' }, 'enough memory for more than 1,234 rows'],
    [{ reason: 'no answer' }, 'does not answer'],
    [{ reason: 'service', message: 'the engine stopped' }, 'the engine stopped'],
] as const)('%j is said in a sentence', (failure, said) => {
    expect(describeFailure(failure, 1234)).toContain(said);
});

/** A table of five rows, shown from the last to the first. */
function table(): Table & { asked: TextRequest[] } {
    const order = Uint32Array.of(4, 3, 2, 1, 0);
    return {
        fields: [{ name: 'a' }, { name: 'b' }],
        rows: 5,
        shown: 5,
        chosen: undefined,
        chosenCount: 0,
        asked: [],
        readPage: (from: number, to: number) => Promise.resolve({ rows: order.slice(from, to), cells: [] }),
        readOrder: () => Promise.resolve(order),
        chooseRows(marks: Uint8Array | undefined) {
            const count = marks?.filter(Boolean).length ?? 0;
            Object.assign(this, { chosen: count ? marks : undefined, chosenCount: count });
        },
        writeText(this: { asked: TextRequest[] }, what: TextRequest) {
            this.asked.push(what);
            return Promise.resolve(new Blob(['x\t1\n']));
        },
    } as unknown as Table & { asked: TextRequest[] };
}

test('rows are chosen alone, with others, and between indexes', async () => {
    const made = table();
    chooseOne(made, 2);
    toggleOne(made, 4);
    expect([...made.chosen!]).toEqual([0, 0, 1, 0, 1]);
    await chooseBetween(made, 1, 0, false);
    expect([...made.chosen!]).toEqual([0, 0, 0, 1, 1]);
    await chooseBetween(made, 4, 4, true);
    expect([...made.chosen!]).toEqual([1, 0, 0, 1, 1]);
    chooseOne(made, 1);
    chooseOne(made, 1);
    expect(made.chosen).toBeUndefined();
    await chooseAll(made);
    expect(made.chosenCount).toBe(5);
});

test('the next chosen one is sought from the active index on, and from the top again', async () => {
    const made = table();
    expect(await nextChosen(made, 0)).toBe(-1);
    chooseOne(made, 1);
    expect(await nextChosen(made, 0)).toBe(3);
    expect(await nextChosen(made, 3)).toBe(3);
    toggleOne(made, 4);
    expect(await nextChosen(made, 3)).toBe(0);
});

describe('copied', () => {
    const grid = (made: Table, corner = false) => {
        const block = { from: { index: 1, slot: 0 }, to: { index: 2, slot: 1 } };
        const arrangement = { shown: [1, 0] };
        return { table: made, block, arrangement, corner: corner ? block.to : undefined } as unknown as GridState;
    };

    test('a block of cells goes before chosen rows, these before the active cell', async () => {
        const made = table();
        chooseOne(made, 1);
        expect(await copyBlock(grid(made, true))).toBe('Copied 4 cells.');
        expect(await copyBlock(grid(made))).toBe('Copied 1 row.');
        expect(made.asked).toEqual([
            { format: 'tsv', rows: { from: 1, to: 3 }, columns: [1, 0], bare: true },
            { format: 'tsv', rows: 'chosen', columns: [1, 0] },
        ]);
        expect(clipboard.splice(0)).toEqual(['x\t1', 'x\t1\n']);
    });

    test('too much is not copied', async () => {
        const made = Object.assign(table(), { shown: MAX_CELLS });
        expect(await copyRows(made, 'csv', [0, 1])).toContain('too large for the clipboard');
        expect(clipboard).toEqual([]);
    });
});
