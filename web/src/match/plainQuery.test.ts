import { expect, test } from 'vitest';
import { isPlainQuery, writeSubquery } from './plainQuery';

test.each([
    ['SELECT ra, dec FROM a.b WHERE x > 3', true],
    ['select ra from a.b -- TOP 5', true],
    ["SELECT ra FROM a.b WHERE name = 'TOP'; ", true],
    ['SELECT a.ra FROM a.b AS a JOIN c.d AS d ON a.id = d.id GROUP BY a.ra', true],
    ['SELECT TOP 5 ra FROM a.b', false],
    ['SELECT ra FROM a.b ORDER BY ra', false],
    ['WITH w AS (SELECT ra FROM a.b) SELECT ra FROM w', false],
    ['SELECT ra FROM TAP_UPLOAD.mine', false],
    ['SELECT ra FROM a.b TABLESAMPLE (1)', false],
    ['SELECT RAND() AS r FROM a.b', false],
    ['SELECT 1; SELECT 2', false],
    ["SELECT 'open FROM a.b", false],
    ['', false],
])('%s', (adql, plain) => expect(isPlainQuery(adql)).toBe(plain));

test('a comment at the end of a subquery does not hide its parenthesis', () => {
    expect(writeSubquery('SELECT ra\nFROM a.b -- all;\n')).toBe('(\n    SELECT ra\n    FROM a.b -- all\n)');
});
