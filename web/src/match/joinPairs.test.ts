import { expect, test } from 'vitest';
import type { TableKey } from '../tap/tableKeys';
import { findJoinPairs, findRelated } from './joinPairs';

const source = { table: 's.source', columns: [{ name: 'object_id' }, { name: 'id', ucd: 'meta.id;meta.main' }] };
const object = {
    table: 's.object',
    columns: [
        { name: 'id', ucd: 'meta.id;meta.main' },
        { name: 'name', ucd: 'meta.id' },
    ],
};
const keys: TableKey[] = [
    { from: 's.source', target: 's.object', columns: [{ from: 'object_id', target: 'id' }] },
    { from: 's.visit', target: 's.source', columns: [{ from: 'source', target: 'id' }] },
];

test('keys in either direction, then identifiers of equal names', () => {
    expect(findJoinPairs(source, object, keys)).toEqual([
        { pairs: [{ own: 'object_id', other: 'id' }], isKey: true },
        { pairs: [{ own: 'id', other: 'id' }], isKey: false },
    ]);
    expect(findJoinPairs(object, { ...source, table: 'S.SOURCE' }, keys)[0]).toEqual({
        ...{ pairs: [{ own: 'id', other: 'object_id' }], isKey: true },
    });
    expect(findJoinPairs(object, { table: '', columns: [{ name: 'ID', ucd: 'meta.id' }] }, keys)).toEqual([
        { pairs: [{ own: 'id', other: 'ID' }], isKey: false },
    ]);
});

test('a key of several columns stays together, and is not offered again by its name', () => {
    const both = [
        { from: 'x', target: 'x' },
        { from: 'id', target: 'id' },
    ];
    const [first, ...further] = findJoinPairs(source, object, [
        { from: 's.source', target: 's.object', columns: both },
    ]);
    expect(first?.pairs).toHaveLength(2);
    expect(further).toHaveLength(1);
    const same = [{ from: 's.source', target: 's.object', columns: [both[1]!] }];
    expect(findJoinPairs(source, object, same)).toHaveLength(1);
});

test('tables that a key connects', () => {
    expect(findRelated(['s.source'], keys)).toEqual(['s.object', 's.visit']);
    expect(findRelated(['s.object', 's.visit'], keys)).toEqual(['s.source']);
});
