import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { nameOf, splitTokens } from './adqlTokens';
import { relationOf, scopeAt, type Output, type Relation, type Scope } from './queryScope';
import { RESERVED } from './adqlReservedWords';
import { quoteName } from './adqlNames';

/** The scope at the | of a query. */
function at(marked: string): Scope {
    const position = marked.indexOf('|');
    return scopeAt(marked.replace('|', ''), position);
}

const shown = (relation: Relation): string =>
    `${relation.name}:${relation.table ?? `(${(relation.outputs ?? []).map(said).join(', ')})`}`;
const said = (output: Output): string => ('all' in output ? `${output.all.name}.*` : output.name);
const seen = (marked: string): string[] => at(marked).relations.map(shown);

describe('words', () => {
    test('the reserved words are the words of the service', () => {
        const source = readFileSync('../clickhouse_schema/reserved_words.py', 'utf8');
        const theirs = [...source.matchAll(/WORDS = """([^"]*)"""/g)].flatMap((found) => found[1]!.trim().split(/\s+/));
        expect([...RESERVED].sort()).toEqual([...new Set(theirs)].sort());
    });

    test.each([
        ['ra', 'ra'],
        ['date', '"date"'],
        ['b-v', '"b-v"'],
        ['2mass', '"2mass"'],
        ['say "x"', '"say ""x"""'],
    ])('%s is written %s', (name, written) => expect(quoteName(name)).toBe(written));
});

describe('tokens', () => {
    test('quotes, comments and numbers', () => {
        const tokens = splitTokens(`sELECT "a ""b""", 'it''s', 1.5e-3, .5 -- "no"\n< 0x1F`);
        expect(tokens.map((token) => `${token.kind} ${token.text}`)).toEqual([
            'keyword SELECT',
            'name "a ""b"""',
            'operator ,',
            "string 'it''s'",
            'operator ,',
            'number 1.5e-3',
            'operator ,',
            'number .5',
            'comment -- "no"',
            'operator <',
            'number 0x1F',
        ]);
        expect(nameOf(tokens[1]!)).toBe('a "b"');
    });

    test('a quote that is not closed ends with its line', () => {
        const tokens = splitTokens(`SELECT "ab FROM t\nWHERE 😀 = 'x`);
        expect(tokens.map((token) => token.kind)).toEqual([
            ...['keyword', 'open', 'keyword', 'strange', 'operator', 'open'],
        ]);
    });
});

describe('tables', () => {
    test.each([
        ['SELECT | FROM tycho2.bright', ['bright:tycho2.bright']],
        ['SELECT b.| FROM tycho2.bright AS b', ['b:tycho2.bright']],
        ['SELECT b.| FROM tycho2.bright b WHERE x', ['b:tycho2.bright']],
        ['SELECT | FROM "my db"."T 1" AS "Q"', ['Q:"my db"."T 1"']],
        ['SELECT | FROM a, s.b AS c', ['a:a', 'c:s.b']],
        ['SELECT | FROM a JOIN b ON a.x = b.x LEFT JOIN c USING (x)', ['a:a', 'b:b', 'c:c']],
        ['SELECT * FROM (a AS p JOIN b AS q ON |) JOIN c AS r ON 1 = 1', ['p:a', 'q:b', 'r:c']],
        ['SELECT | FROM t TABLESAMPLE (10)', ['t:t']],
        ['SELECT | FROM t AS x TABLESAMPLE (10) REPEATABLE (1)', ['x:t']],
        ['-- FROM a\nSELECT | -- FROM b\nFROM c', ['c:c']],
        ["SELECT ' FROM a ', | FROM c", ['c:c']],
        ['SELECT x FROM a UNION SELECT | FROM b', ['b:b']],
        ['SELECT | FROM a UNION SELECT x FROM b', ['a:a']],
        ['SELECT |', []],
        ['', []],
    ])('%s', (marked, relations) => expect(seen(marked)).toEqual(relations));
});

describe('nested queries', () => {
    test.each([
        // derived tables give their outputs, and do not see their neighbours
        ['SELECT q.| FROM (SELECT ra, dec AS d FROM s.t) AS q', ['q:(ra, d)']],
        ['SELECT * FROM a, (SELECT | FROM b) AS q', ['b:b']],
        ['SELECT * FROM a JOIN (SELECT x FROM b WHERE |) AS q ON 1 = 1', ['b:b']],
        // subqueries elsewhere see the queries around them
        ['SELECT * FROM a WHERE EXISTS (SELECT * FROM b WHERE |)', ['b:b', 'a:a']],
        ['SELECT * FROM a WHERE x IN (SELECT y FROM b WHERE z IN (SELECT | FROM c', ['c:c', 'b:b', 'a:a']],
        ['SELECT * FROM a WHERE x IN (SELECT y FROM b) AND |', ['a:a']],
        ['SELECT q.| FROM ((SELECT x FROM a) UNION (SELECT y FROM b)) AS q', ['q:(x)']],
        ['SELECT * FROM (a JOIN (SELECT | FROM b) AS q ON 1 = 1)', ['b:b']],
        // WITH
        ['WITH w AS (SELECT ra, MAX(m) AS most FROM s.t) SELECT | FROM w AS v', ['v:(ra, most)']],
        ['WITH w AS (SELECT | FROM s.t) SELECT * FROM w', ['t:s.t']],
        ['WITH w AS (SELECT x FROM t), u AS (SELECT * FROM w WHERE |) SELECT * FROM u', ['w:(x)']],
        ['WITH w AS (SELECT * FROM t) SELECT (SELECT | FROM w) FROM b', ['w:(t.*)', 'b:b']],
        // outputs
        ['SELECT q.| FROM (SELECT TOP 5 a.*, b.x y, COUNT(*), b.z FROM a, b) q', ['q:(a.*, y, z)']],
        ['SELECT q.| FROM (SELECT * FROM a, b) q', ['q:(a.*, b.*)']],
        ['SELECT q.| FROM (SELECT DISTINCT s.a.*, 2 * x AS twice FROM s.a) q', ['q:(a.*, twice)']],
    ])('%s', (marked, relations) => expect(seen(marked)).toEqual(relations));

    test('outputs know which columns they are', () => {
        const [relation] = at('SELECT | FROM (SELECT b.vt AS v, ra FROM tycho2.bright AS b, x) AS q').relations;
        const outputs = (relation?.outputs ?? []).map((output) =>
            'all' in output ? '' : [output.name, output.column, ...(output.from ?? []).map(shown)].join(' '),
        );
        expect(outputs).toEqual(['v vt b:tycho2.bright', 'ra ra b:tycho2.bright x:x']);
    });
});

describe('positions', () => {
    test.each([
        ['SELECT |', 'SELECT'],
        ['SELECT a FROM |', 'FROM'],
        ['SELECT a FROM t JOIN |', 'JOIN'],
        ['SELECT a FROM t JOIN u ON |', 'ON'],
        ['SELECT a FROM (t JOIN |', 'JOIN'],
        ['SELECT a FROM (|', 'FROM'],
        ['SELECT a FROM t WHERE f(|', 'WHERE'],
        ['SELECT a FROM t GROUP BY |', 'GROUP'],
        ['SELECT a FROM t ORDER BY |', 'ORDER'],
        ['SELECT RANK() OVER (ORDER BY |) FROM t', 'ORDER'],
        ['|', ''],
    ])('%s', (marked, clause) => expect(at(marked).clause).toBe(clause));

    test.each([
        [['b'], 'b'],
        [['B'], 'b'],
        [['bright'], undefined],
        [['objects'], 'objects'],
        [['openngc', 'objects'], 'objects'],
        [['tycho2', 'bright'], undefined],
    ])('%s', (qualifier, name) => {
        const scope = at('SELECT | FROM tycho2.bright AS b, openngc.objects');
        expect(relationOf(scope, qualifier)?.name).toBe(name);
    });
});
