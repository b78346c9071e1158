import { expect, test, vi } from 'vitest';
import { cellToNumber, cellText } from './jsonCells';
import { headOf, headQuery } from './fileHead';
import { kindOf } from '../model/fieldKind';
import { emptyVotable } from '../model/votableText';

vi.hoisted(() => Object.assign(globalThis, { document: { baseURI: 'http://localhost/' } }));

const answer = (columns: object[], data: unknown[][]) =>
    JSON.stringify({
        columns: [...columns, { name: 'skyhouse_rows', datatype: 'long' }],
        data,
        status: { value: 'OK' },
    });

test('the query', () => {
    expect(headQuery('mine')).toBe(
        'SELECT TOP 20 t.*, (SELECT COUNT(*) FROM TAP_UPLOAD.mine) AS skyhouse_rows FROM TAP_UPLOAD.mine AS t',
    );
});

test('columns with their metadata, rows, and how many there are', () => {
    const head = headOf(
        answer(
            [
                { name: 'ra', datatype: 'double', unit: 'deg', ucd: 'pos.eq.ra;meta.main', arraysize: '' },
                { name: 'my name', datatype: 'char', arraysize: '*' },
                { name: 'p', datatype: 'double', arraysize: '2', xtype: 'point' },
            ],
            [
                [1.5, 'a', [1, 2], 70],
                ['NaN', null, null, 70],
            ],
        ),
    );
    expect(head.count).toBe(70);
    expect(head.fields).toEqual([
        { name: 'ra', datatype: 'double', unit: 'deg', ucd: 'pos.eq.ra;meta.main', kind: 'number' },
        { name: 'my name', datatype: 'char', arraysize: '*', kind: 'text' },
        { name: 'p', datatype: 'double', arraysize: '2', xtype: 'point', kind: 'array' },
    ]);
    expect(head.rows).toEqual([
        [1.5, 'a', '1 2'],
        ['NaN', null, null],
    ]);
});

test('integers keep their digits', () => {
    const head = headOf(answer([{ name: 'id', datatype: 'long' }], [[1, 1]]).replace('[1,1]', '[9007199254740993,1]'));
    expect(head.rows).toEqual([[9007199254740993n]]);
    expect(head.rows[0]!.map(cellText)).toEqual(['9007199254740993']);
});

test('a table without rows', () => {
    expect(headOf(answer([{ name: 'a', datatype: 'int' }], []))).toMatchObject({ count: 0, rows: [] });
});

test('an answer that was broken off', () => {
    expect(() => headOf('{"columns": [')).toThrow('The service does not answer');
});

test('kinds', () => {
    expect(kindOf('char', '*', 'timestamp')).toBe('time');
    expect(kindOf('unicodeChar', '*')).toBe('text');
    expect(kindOf('char')).toBe('text');
    expect(kindOf('float', '3')).toBe('array');
    expect(kindOf('boolean')).toBe('boolean');
    expect(kindOf('long', '1')).toBe('number');
});

test('cells as numbers', () => {
    expect([1, 5n, '2.5', '-Infinity'].map(cellToNumber)).toEqual([1, 5, 2.5, -Infinity]);
    for (const none of [null, undefined, '', 'x', 'NaN', true]) expect(cellToNumber(none)).toBeNaN();
});

test('a VOTable of columns alone', async () => {
    expect(await emptyVotable([{ name: 'a"<&', datatype: 'char', arraysize: '*', kind: 'text' }]).text()).toContain(
        '<FIELD name="a&quot;&lt;&amp;" datatype="char" arraysize="*"/>',
    );
});
