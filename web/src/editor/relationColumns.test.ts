import { describe, expect, test } from 'vitest';
import type { Column, Schema } from '../tap/vosiTables';
import { columnsOf, findTable, type Tables } from './relationColumns';
import { scopeAt } from '../adql/queryScope';

const column = (name: string, unit = ''): Column => ({
    ...{ name, unit, description: `what ${name} is`, ucd: '', utype: '', datatype: 'DOUBLE', arraysize: '', xtype: '' },
    ...{ indexed: false, primary: false, nullable: true },
});

const COLUMNS: Record<string, Column[]> = {
    'tycho2.bright': [column('ra', 'deg'), column('"date"'), column('vt_mag', 'mag')],
    'openngc.objects': [column('name'), column('ra', 'deg')],
    'a.twice': [],
    'b.twice': [],
};

const schemas: Schema[] = Object.keys(COLUMNS).map((name) => ({
    ...{ name: name.split('.')[0]!, description: '' },
    tables: [{ name, description: '' }],
}));

const tables: Tables = { schemas, columns: (table) => Promise.resolve(COLUMNS[table]!) };

async function known(marked: string): Promise<string[]> {
    const position = marked.indexOf('|');
    const [relation] = scopeAt(marked.replace('|', ''), position).relations;
    const columns = relation ? await columnsOf(relation, tables) : [];
    return columns.map(({ name, column }) => (column?.unit ? `${name} ${column.unit}` : name));
}

describe('columns', () => {
    test.each([
        ['SELECT | FROM tycho2.bright AS b', ['ra deg', 'date', 'vt_mag mag']],
        ['SELECT | FROM BRIGHT', ['ra deg', 'date', 'vt_mag mag']],
        ['SELECT | FROM twice', []],
        ['SELECT | FROM missing.one', []],
        ['SELECT | FROM (SELECT ra AS alpha, 2 * ra AS twice FROM bright) AS q', ['alpha deg', 'twice']],
        ['WITH w AS (SELECT * FROM objects) SELECT | FROM w', ['name', 'ra deg']],
        [
            'WITH w AS (SELECT o.*, b.vt_mag v FROM objects o, bright b), u AS (SELECT w.v, name FROM w) SELECT | FROM u',
            ['v mag', 'name'],
        ],
    ])('%s', async (marked, columns) => expect(await known(marked)).toEqual(columns));

    test('a table without its schema, where its name is unique', () => {
        expect(findTable('tycho2."bright"', schemas)).toBe('tycho2.bright');
        expect(findTable('"Bright"', schemas)).toBe(undefined);
        expect(findTable('Bright', schemas)).toBe('tycho2.bright');
        expect(findTable('twice', schemas)).toBe(undefined);
        expect(findTable('A.twice', schemas)).toBe('a.twice');
    });
});
