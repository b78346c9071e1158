import { describe, expect, test } from 'vitest';
import { namedUploads, uploadsOf } from './queryUploads';

const [mine, other] = [new Blob(['a']), new Blob(['b'])];

describe('uploads of', () => {
    test.each([
        ['SELECT * FROM t', []],
        ['SELECT * FROM TAP_UPLOAD.mine AS m JOIN tap_upload."my 2" ON m.a = TAP_UPLOAD.mine.a', ['mine', 'my 2']],
        ['select * from "TAP_UPLOAD".Mine, TAP_UPLOAD."mine"', ['Mine']],
        ["SELECT 'TAP_UPLOAD.a' -- TAP_UPLOAD.b\nFROM TAP_UPLOAD.", []],
        ["SELECT 1 FROM t WHERE a = 'FROM TAP_UPLOAD.a'", []],
        ['SELECT "FROM TAP_UPLOAD.a" FROM t', []],
        ['SELECT a FROM TAP_UPLOAD -- ,\n . mine', ['mine']],
        ['SELECT a FROM t AS tap_upload WHERE TAP_UPLOAD.mine > 3', []],
        ['SELECT a FROM x.tap_upload.mine', []],
        ['SELECT a FROM t WHERE a IN (SELECT b FROM TAP_UPLOAD.mine)', ['mine']],
        ['SELECT a, (SELECT MAX(b) FROM TAP_UPLOAD.mine) FROM t', ['mine']],
        ['SELECT a FROM (SELECT b FROM (TAP_UPLOAD.a JOIN TAP_UPLOAD.b USING (id))) AS q', ['a', 'b']],
        ['WITH w AS (SELECT a FROM TAP_UPLOAD.one) SELECT a FROM w, TAP_UPLOAD.two', ['two', 'one']],
        ['SELECT a FROM t UNION SELECT a FROM TAP_UPLOAD.mine', ['mine']],
        ['SELECT a FROM t, (SELECT b FROM TAP_UPLOAD.mine WHERE c = (1', ['mine']],
    ])('%s', (adql, names) => expect(uploadsOf(adql).toSorted()).toEqual(names.toSorted()));
});

describe('of the files, these go with', () => {
    test.each([
        ['SELECT * FROM tycho2.bright', []],
        ['SELECT * FROM TAP_UPLOAD.MINE', ['mine']],
        ['SELECT * FROM tap_upload."mine" AS a JOIN TAP_UPLOAD.other AS b ON a.k = b.k', ['mine', 'other']],
        ['SELECT k FROM mine', ['mine']],
        ['WITH mine AS (SELECT 1 AS k FROM t) SELECT k FROM mine', []],
        ['WITH mine AS (SELECT k FROM mine) SELECT k FROM mine', ['mine']],
        ['WITH a AS (SELECT k FROM mine), mine AS (SELECT k FROM t) SELECT a.k FROM a CROSS JOIN mine', ['mine']],
        ['WITH mine AS (SELECT k FROM t), a AS (SELECT k FROM mine) SELECT a.k FROM a CROSS JOIN mine', []],
        ['WITH a AS (SELECT k FROM t) SELECT k FROM a UNION SELECT k FROM mine, (SELECT k FROM a) AS other', ['mine']],
        ['SELECT k FROM tycho2.mine AS other', []],
        ["SELECT 'TAP_UPLOAD.mine' FROM t -- FROM TAP_UPLOAD.mine", []],
    ])('%s', (adql, names) => expect(Object.keys(namedUploads(adql, { mine, other }))).toEqual(names));

    test('a query that is not there', () => expect(namedUploads('', { mine })).toEqual({}));
});
