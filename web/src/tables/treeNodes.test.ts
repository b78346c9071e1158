import { describe, expect, it, vi } from 'vitest';
import type { Column, Schema } from '../tap/tableCatalogue.svelte';
import { flattenTree, indexAfterKey, type Columns, type TreeNode } from './treeNodes.svelte';

// the module that asks takes the service's address from the page's
vi.hoisted(() => {
    const page = { document: { baseURI: 'http://localhost/' }, location: { hash: '' } };
    Object.assign(globalThis, { ...page, window: globalThis, addEventListener: () => undefined });
});

const schemas: Schema[] = [
    {
        name: 'a',
        description: '',
        tables: [
            { name: 'a.x', description: '' },
            { name: 'a."y z"', description: '' },
        ],
    },
    { name: 'b', description: '', tables: [] },
];
const columns = ['ra', 'dec'].map((name) => ({ name, description: '' }) as Column);

function rows(open: string[], known: Record<string, Columns> = {}): TreeNode[] {
    return flattenTree(
        schemas,
        (id) => open.includes(id),
        (table) => known[table],
    );
}

describe('flattened', () => {
    it('has what is open', () => {
        expect(rows([]).map((node) => node.label)).toEqual(['a', 'b']);
        expect(rows(['a']).map((node) => node.label)).toEqual(['a', 'x', '"y z"', 'b']);
        expect(rows(['a', 'a.x'], { 'a.x': columns }).map((node) => node.insert)).toEqual([
            '',
            'a.x',
            'ra',
            'dec',
            'a."y z"',
            '',
        ]);
    });

    it('says why columns are missing', () => {
        expect(rows(['a', 'a.x'], { 'a.x': { failed: 'no answer' } })[2]).toMatchObject({
            kind: 'note',
            label: 'no answer',
        });
    });

    it('tells indexes among siblings', () => {
        const [, x, ra] = rows(['a', 'a.x'], { 'a.x': columns });
        expect([x!.position, x!.siblings, ra!.position, ra!.siblings, ra!.level]).toEqual([1, 2, 1, 2, 3]);
    });
});

describe('keys', () => {
    const nodes = rows(['a', 'a.x'], { 'a.x': columns });

    it('move within the list', () => {
        expect(indexAfterKey(nodes, 0, 'ArrowUp', 5)).toBe(0);
        expect(indexAfterKey(nodes, 1, 'ArrowDown', 5)).toBe(2);
        expect(indexAfterKey(nodes, 1, 'End', 5)).toBe(5);
        expect(indexAfterKey(nodes, 1, 'PageDown', 3)).toBe(4);
    });

    it('go into what is open and out of what is not', () => {
        expect(indexAfterKey(nodes, 1, 'ArrowRight', 5)).toBe(2);
        expect(indexAfterKey(nodes, 4, 'ArrowRight', 5)).toBeUndefined();
        expect(indexAfterKey(nodes, 3, 'ArrowLeft', 5)).toBe(1);
        expect(indexAfterKey(nodes, 4, 'ArrowLeft', 5)).toBe(0);
    });

    it('find by first letter, past quotes, around the end', () => {
        expect(indexAfterKey(nodes, 0, 'y', 5)).toBe(4);
        expect(indexAfterKey(nodes, 4, 'd', 5)).toBe(3);
        expect(indexAfterKey(nodes, 0, 'q', 5)).toBeUndefined();
    });
});
