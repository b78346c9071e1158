import { describe, expect, test } from 'vitest';
import type { CandidateColumn } from '../uploads/positionGuess';
import { findProblems } from './draftProblems';
import {
    EMPTY_DRAFT,
    EMPTY_JOIN,
    EMPTY_REGION,
    freeAlias,
    groupRows,
    removeTable,
    type DraftColumn,
    type DraftCondition,
    type QueryDraft,
    type TableSide,
} from './queryDraft';
import { writeQuery } from './writeQuery';

const column = (name: string, unit = '', kind: CandidateColumn['kind'] = 'number'): CandidateColumn => ({
    ...{ name, unit, kind },
});
const position = {
    frame: 'ICRS',
    longitude: { column: 'ra', form: 'deg' },
    latitude: { column: 'dec', form: 'deg' },
} as const;

const stars: TableSide = {
    ...{ alias: 'a', table: 'tycho2.bright', position },
    columns: [
        ...[column('tyc_id', '', 'text'), column('ra', 'deg'), column('dec', 'deg')],
        ...[column('vt_mag', 'mag'), column('my "size"'), column('seen', '', 'time'), column('double', '', 'boolean')],
    ],
};
const objects: TableSide = {
    ...{ alias: 'b', table: 'openngc.objects', position },
    columns: [column('id'), column('name', '', 'text'), column('ra', 'deg'), column('dec', 'deg')],
};
const chosen = (alias: string, ...columns: string[]): DraftColumn[] => columns.map((name) => ({ alias, column: name }));
const draft = (more: Partial<QueryDraft> = {}): QueryDraft => ({
    ...EMPTY_DRAFT,
    tables: [{ alias: 'a', table: 'tycho2.bright' }],
    ...more,
});
const where = (of: string, test: DraftCondition['test'], value = '', more: Partial<DraftCondition> = {}) =>
    ({ id: '1', alias: 'a', column: of, test, value, upper: '', chosen: [], ...more }) as DraftCondition;
const written = (more: Partial<QueryDraft>) => writeQuery(draft(more), [stars, objects]);
const both: QueryDraft['tables'] = [
    { alias: 'a', table: 'tycho2.bright' },
    { alias: 'b', table: 'openngc.objects', join: { ...EMPTY_JOIN, with: 'a' } },
];

describe('one table', () => {
    test('all columns, chosen ones in the order of the table, names quoted', () => {
        expect(written({})).toBe('SELECT *\nFROM tycho2.bright');
        expect(written({ columns: chosen('a', 'my "size"', 'double', 'tyc_id'), limit: '10' })).toBe(
            'SELECT TOP 10 tyc_id, "my ""size""", "double"\nFROM tycho2.bright',
        );
    });

    test('order and number', () => {
        expect(
            written({
                columns: chosen('a', 'ra', 'vt_mag'),
                order: [
                    { output: ' a.vt_mag', descending: true },
                    { output: ' a.ra', descending: false },
                ],
            }),
        ).toBe('SELECT ra, vt_mag\nFROM tycho2.bright\nORDER BY vt_mag DESC, ra');
        expect(written({ result: 'count', columns: chosen('a', 'ra'), limit: '5' })).toBe(
            'SELECT COUNT(*) AS n\nFROM tycho2.bright',
        );
    });

    test('groups have summaries and their number, with names that differ', () => {
        expect(
            written({
                result: 'groups',
                columns: [
                    { alias: 'a', column: 'vt_mag', summary: 'AVG' },
                    { alias: 'a', column: 'double' },
                ],
                order: [{ output: 'COUNT', descending: true }],
            }),
        ).toBe(
            'SELECT "double", AVG(vt_mag) AS avg_vt_mag, COUNT(*) AS n\nFROM tycho2.bright\nGROUP BY "double"\nORDER BY n DESC',
        );
    });
});

test.each([
    [where('vt_mag', 'between', '5', { upper: '6 mag' }), 'vt_mag BETWEEN 5 AND 6'],
    [where('vt_mag', 'between', '500 mmag'), 'vt_mag >= 0.5'],
    [where('vt_mag', 'between', '', { upper: '6' }), 'vt_mag <= 6'],
    [where('ra', 'above', '5 arcmin'), 'ra > 0.08333333333333'],
    [where('vt_mag', 'below', '3'), 'vt_mag < 3'],
    [where('vt_mag', 'is', '3, 4'), 'vt_mag IN (3, 4)'],
    [where('vt_mag', 'isNot', '3'), 'vt_mag <> 3'],
    [where('vt_mag', 'known'), 'vt_mag IS NOT NULL'],
    [where('tyc_id', 'contains', "Barnard's"), "tyc_id ILIKE '%Barnard''s%'"],
    [where('tyc_id', 'begins', '1-'), "tyc_id ILIKE '1-%'"],
    [where('tyc_id', 'is', "O'Neill", { chosen: ['A', 'B, C'] }), "tyc_id IN ('A', 'B, C', 'O''Neill')"],
    [where('tyc_id', 'isNot', '', { chosen: ['A', 'B'] }), "tyc_id NOT IN ('A', 'B')"],
    [where('double', 'true'), '"double" = TRUE'],
    [where('seen', 'above', '1991-04-02'), "seen > CAST('1991-04-02T00:00:00' AS TIMESTAMP)"],
])('the condition %#', (condition, sql) => {
    expect(written({ conditions: [condition] })).toBe(`SELECT *\nFROM tycho2.bright\nWHERE ${sql}`);
    expect(findProblems(draft({ conditions: [condition] }), [stars])).toEqual([]);
});

test('conditions without a value are left out, wrong ones are problems', () => {
    const conditions = [where('vt_mag', 'below'), where('ra', 'above', '5 mag'), where('ra', 'contains', '1')];
    expect(written({ conditions })).toBe('SELECT *\nFROM tycho2.bright');
    expect(findProblems(draft({ conditions }), [stars])).toEqual([
        'ra: The column is in deg; mag cannot be converted to it.',
    ]);
});

test('a query of groups begins without identifiers and positions, with means of numbers', () => {
    const named = {
        ...objects,
        columns: [{ ...objects.columns[1]!, ucd: 'meta.id' }, column('type', '', 'text'), column('ra')],
    };
    const all = draft({
        tables: [{ alias: 'b', table: 'openngc.objects' }],
        columns: [...chosen('b', 'name', 'type', 'ra'), ...chosen('a', 'vt_mag')],
    });
    expect(groupRows(all, [stars, named]).columns).toEqual([
        { alias: 'a', column: 'vt_mag', summary: 'AVG' },
        { alias: 'b', column: 'type' },
    ]);
});

describe('regions', () => {
    const centre = { ra: 56.87, dec: 24.1, name: "O'Pleiades" };
    const circle = { ...EMPTY_REGION, shape: 'circle', alias: 'a', centre } as const;

    test('a circle around a name, with the distance', () => {
        expect(
            written({ region: { ...circle, distance: true }, order: [{ output: 'separation', descending: false }] }),
        ).toBe(
            "SELECT *, DISTANCE(POINT(ra, dec), skyhouse_resolve('O''Pleiades')) AS separation\nFROM tycho2.bright\n" +
                "WHERE DISTANCE(POINT(ra, dec), skyhouse_resolve('O''Pleiades')) <= 0.5\nORDER BY separation",
        );
    });

    test('a box around a position, together with a condition', () => {
        const box = {
            ...circle,
            shape: 'box',
            centre: { ...centre, name: '' },
            size: '1',
            height: '30 arcsec',
        } as const;
        expect(written({ region: box, conditions: [where('vt_mag', 'below', '9')] })).toBe(
            'SELECT *\nFROM tycho2.bright\n' +
                'WHERE 1 = CONTAINS(POINT(ra, dec), BOX(POINT(56.87, 24.1), 1, 30 / 3600.))\n  AND vt_mag < 9'.replace(
                    '\n  ',
                    '\n    ',
                ),
        );
    });

    test('positions in other notations are converted', () => {
        const mine: TableSide = {
            ...{ alias: 'a', table: 'TAP_UPLOAD.mine', columns: [column('h', 'h'), column('d')] },
            position: {
                frame: 'ICRS',
                longitude: { column: 'h', form: 'hour' },
                latitude: { column: 'd', form: 'deg' },
            },
        };
        const adql = writeQuery(draft({ region: circle, columns: chosen('a', 'd') }), [mine]);
        expect(adql).toContain('15 * t.h AS longitude_deg');
        expect(adql).toContain('SELECT a.d');
        expect(adql).toContain('DISTANCE(POINT(a.longitude_deg, a.latitude_deg)');
    });

    test('what it lacks', () => {
        const region = { ...EMPTY_REGION, shape: 'circle', alias: 'a', size: '1 km' } as const;
        expect(findProblems(draft({ region }), [stars])).toHaveLength(2);
        expect(findProblems(draft({ region }), [{ ...stars, position: undefined }])).toEqual([
            'tycho2.bright has no known position columns.',
        ]);
    });
});

describe('joins', () => {
    test('by position: equal names are told apart, the separation is a column', () => {
        expect(written({ tables: both, columns: [...chosen('a', 'tyc_id', 'ra'), ...chosen('b', 'name', 'ra')] })).toBe(
            'SELECT a.tyc_id, a.ra AS ra_a, b.name, b.ra AS ra_b, ' +
                "IN_UNIT(DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)), 'arcsec') AS separation_arcsec\n" +
                'FROM tycho2.bright AS a\n' +
                '    JOIN openngc.objects AS b ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < 2 / 3600.',
        );
    });

    test('by columns, keeping all rows, with qualified conditions', () => {
        const join = {
            ...EMPTY_JOIN,
            with: 'a',
            by: 'columns',
            pairs: [{ own: 'name', other: 'tyc_id' }],
            keepAll: true,
        } as const;
        const tables = [both[0]!, { ...both[1]!, join }];
        expect(
            written({ tables, columns: chosen('b', 'id'), conditions: [where('id', 'is', '7', { alias: 'b' })] }),
        ).toBe(
            'SELECT b.id\nFROM tycho2.bright AS a\n    LEFT JOIN openngc.objects AS b ON a.tyc_id = b.name\nWHERE b.id = 7',
        );
        expect(findProblems(draft({ tables }), [stars, objects])).toEqual(['Choose columns of the result.']);
        const unpaired = [both[0]!, { ...both[1]!, join: { ...join, pairs: [] } }];
        expect(findProblems(draft({ tables: unpaired, result: 'count' }), [stars, objects])).toEqual([
            'Choose the columns that join openngc.objects.',
        ]);
    });

    test('a table is removed with those that are joined through it', () => {
        const tables = [...both, { alias: 'c', table: 'x.y', join: { ...EMPTY_JOIN, with: 'b' } }];
        const less = removeTable(draft({ tables, columns: [...chosen('a', 'ra'), ...chosen('c', 'z')] }), 'b');
        expect(less.tables).toEqual([both[0]]);
        expect(less.columns).toEqual(chosen('a', 'ra'));
        expect([freeAlias([]), freeAlias(both), freeAlias(less.tables)]).toEqual(['a', 'c', 'b']);
    });
});

test('without a table, or before its columns are known, there is no query', () => {
    expect(writeQuery(EMPTY_DRAFT, [])).toBe('');
    expect(writeQuery(draft(), [])).toBe('');
    expect(findProblems(EMPTY_DRAFT, [])).toEqual(['Choose a table.']);
});
