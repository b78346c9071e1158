import { describe, expect, it } from 'vitest';
import type { Table } from '../model/resultModel';
import { TableLinks } from './tableLinks';

/** A table of five rows, as far as links know one. */
function fake() {
    const table = {
        rows: 5,
        hovered: -1,
        chosen: undefined as Uint8Array | undefined,
        get chosenCount() {
            return this.chosen?.reduce((sum, one) => sum + one, 0) ?? 0;
        },
        chooseRows(rows: Uint8Array | undefined) {
            this.chosen = rows;
        },
    };
    return table as typeof table & Table;
}

function linked() {
    const told: [string, unknown][] = [];
    const links = new TableLinks((_to, mtype, parameters) => {
        told.push([mtype, parameters]);
        return Promise.resolve();
    });
    const table = fake();
    return { links, told, table, end: links.linkTable('http://x/t', table) };
}

describe('rows of a table that both have', () => {
    it('are told when they are chosen here, not when others have chosen them', async () => {
        const { links, told, table } = linked();
        await links.sendChoice('http://x/t', table);
        expect(told).toEqual([]);
        table.chooseRows(Uint8Array.of(0, 1, 0, 1, 0));
        await links.sendChoice('http://x/t', table);
        expect(told).toEqual([
            ['table.select.rowList', { 'table-id': 'http://x/t', url: 'http://x/t', 'row-list': ['1', '3'] }],
        ]);
        links.takeSelection('c1', { 'table-id': 'http://x/t', 'row-list': ['0', '4', '9', 'x'] });
        expect(table.chosen).toEqual(Uint8Array.of(1, 0, 0, 0, 1));
        await links.sendChoice('http://x/t', table);
        expect(told).toHaveLength(1);
    });

    it('are marked by the address too, and no more when the link has ended', () => {
        const { links, table, end } = linked();
        links.takeHighlight('c1', { url: 'http://x/t', row: '3' });
        expect(table.hovered).toBe(3);
        links.takeHighlight('c1', { url: 'http://x/t', row: '7' });
        links.takeHighlight('c1', { url: 'http://x/other', row: '1' });
        expect(table.hovered).toBe(3);
        end();
        links.takeHighlight('c1', { url: 'http://x/t', row: '0' });
        expect(table.hovered).toBe(3);
    });

    it('have their indexes in what was sent, not in the table', async () => {
        const { links, told, table, end } = linked();
        end();
        // sorted, and two of five rows filtered away
        links.linkTable('http://x/t', table, Uint32Array.of(4, 0, 2));
        links.takeSelection('c1', { url: 'http://x/t', 'row-list': ['0', '2', '3'] });
        expect(table.chosen).toEqual(Uint8Array.of(0, 0, 1, 0, 1));
        links.takeHighlight('c1', { url: 'http://x/t', row: '1' });
        expect(table.hovered).toBe(0);
        links.takeHighlight('c1', { url: 'http://x/t', row: '3' });
        expect(table.hovered).toBe(0);
        table.chooseRows(Uint8Array.of(1, 1, 0, 0, 1));
        await links.sendChoice('http://x/t', table);
        await links.sendHighlight('http://x/t', table);
        table.hovered = 1;
        await links.sendHighlight('http://x/t', table);
        expect(told.map(([, given]) => given)).toEqual([
            { 'table-id': 'http://x/t', url: 'http://x/t', 'row-list': ['0', '1'] },
            { 'table-id': 'http://x/t', url: 'http://x/t', row: '1' },
        ]);
    });

    it('none chosen elsewhere are none chosen here', () => {
        const { links, table } = linked();
        table.chooseRows(Uint8Array.of(1, 0, 0, 0, 0));
        links.takeSelection('c1', { 'table-id': 'http://x/t', 'row-list': [] });
        expect(table.chosen).toBeUndefined();
    });
});
