import { describe, expect, test, vi } from 'vitest';
import { argumentsOf, functionsOf } from './adqlFunctions';
import { splitTokens } from '../adql/adqlTokens';
import { callAt, insertionAt, rangeOf, typedAt } from './cursorContext';
import { scopeAt } from '../adql/queryScope';

// the module that asks takes the service's address from the page's
vi.hoisted(() => Object.assign(globalThis, { document: { baseURI: 'http://localhost/' } }));

function marked(query: string): [adql: string, at: number] {
    return [query.replace('|', ''), query.indexOf('|')];
}

describe('what is typed', () => {
    test.each([
        ['SELECT r|', ['', 'r', 'SELECT']],
        ['SELECT b.r| FROM t', ['b', 'r', 'SELECT']],
        ['SELECT b.| FROM t', ['b', '', 'SELECT']],
        ['SELECT "a b".s.x|', ['a b,s', 'x', 'SELECT']],
        ['SELECT x FROM |', ['', '', 'FROM']],
        ['SELECT x, "my n| FROM t', ['', '"my n', ',']],
        ['SELECT "my| col" FROM t', ['', '"my', 'SELECT']],
        ['SELECT sel|', ['', 'sel', 'SELECT']],
        ['|', ['', '', '']],
    ])('%s', (query, expected) => {
        const [adql, at] = marked(query);
        const typed = typedAt(splitTokens(adql), at)!;
        expect([typed.qualifier.join(','), typed.prefix, typed.before?.text ?? '']).toEqual(expected);
    });

    test.each(["SELECT 'a|b'", 'SELECT 1 -- b.|', 'SELECT 12|', 'SELECT "a"|', "SELECT 'b.|"])(
        'nothing: %s',
        (query) => {
            const [adql, at] = marked(query);
            expect(typedAt(splitTokens(adql), at)).toBe(undefined);
        },
    );
});

describe('calls', () => {
    test.each([
        ['SELECT POINT(|', 'POINT 0'],
        ['SELECT CIRCLE(POINT(ra, dec), |', 'CIRCLE 1'],
        ['SELECT CIRCLE(POINT(ra, | dec), 1)', 'POINT 1'],
        ['SELECT f(\'(\', "a(", 2|', 'f 2'],
        ['SELECT f(1)|', undefined],
        ['SELECT a, (|', undefined],
    ])('%s', (query, expected) => {
        const [adql, at] = marked(query);
        const call = callAt(splitTokens(adql), at);
        expect(call && `${call.name} ${call.argument}`).toBe(expected);
    });
});

describe('functions', () => {
    test('forms of one name are together', () => {
        const known = functionsOf([
            { form: 'ivo_x(a INTEGER) -> POINT', description: 'First.' },
            { form: 'ivo_x(a INTEGER, b REAL) -> POINT', description: 'Second.' },
        ]);
        expect(known.find(({ name }) => name === 'ivo_x')).toEqual({
            name: 'ivo_x',
            forms: ['ivo_x(a INTEGER) -> POINT', 'ivo_x(a INTEGER, b REAL) -> POINT'],
            description: 'First.',
        });
        expect(known.filter(({ name }) => name === 'CIRCLE')).toHaveLength(1);
        expect(known.filter(({ description }) => !description)).toEqual([]);
    });

    test.each([
        ['PI()', []],
        ['ROUND(x[, decimals])', ['x', '[, decimals]']],
        ['LAG(x[, n][, default]) OVER (...)', ['x', '[, n]', '[, default]']],
        ['ivo_healpix_index(hpxOrder INTEGER, point POINT) -> BIGINT', ['hpxOrder INTEGER', 'point POINT']],
    ])('%s', (form, expected) => expect(argumentsOf(form)).toEqual(expected));
});

describe('errors', () => {
    const adql = 'SELECT "😀", rra\nFROM t';
    test.each([
        [{ line: 1, column: 13, endLine: 1, endColumn: 16 }, 'rra'],
        [{ line: 2, column: 1, endLine: 2, endColumn: 5 }, 'FROM'],
        [{ line: 2, column: 7, endLine: 2, endColumn: 7 }, 't'],
        [{ line: 1, column: 8 }, '"'],
    ])('%o', (position, underlined) => {
        const { from, to } = rangeOf(adql, { message: '', ...position });
        expect(adql.slice(from, to)).toBe(underlined);
    });

    test('of an empty query', () =>
        expect(rangeOf('', { message: '', line: 1, column: 1 })).toEqual({ from: 0, to: 0 }));
});

describe('insertion', () => {
    test.each([
        ['SELECT |', 'ra', 'SELECT ra'],
        ['SELECT|', 'ra', 'SELECT ra'],
        ['SELECT ra|', 'dec', 'SELECT ra, dec'],
        ['SELECT ra |FROM t', 'dec', 'SELECT ra, dec FROM t'],
        ['SELECT ra,|', 'dec', 'SELECT ra, dec'],
        ['SELECT TOP 5 |', 'ra', 'SELECT TOP 5 ra'],
        ['SELECT *\nFROM |', 's.t', 'SELECT *\nFROM s.t'],
        ['SELECT *\nFROM a |', 's.t', 'SELECT *\nFROM a, s.t'],
        ['SELECT * FROM t WHERE a < |', 'b', 'SELECT * FROM t WHERE a < b'],
        ['SELECT b.|', 'ra', 'SELECT b.ra'],
    ])('%s + %s', (query, text, expected) => {
        const [adql, at] = marked(query);
        const tokens = splitTokens(adql);
        const { from, to, insert } = insertionAt(adql, at, text, scopeAt(adql, at, tokens).clause, tokens);
        expect(adql.slice(0, from) + insert + adql.slice(to)).toBe(expected);
    });
});
