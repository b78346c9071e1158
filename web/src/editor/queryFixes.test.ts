import { describe, expect, test, vi } from 'vitest';
import { applyFixes, changesOf, differenceOf, fixLabel } from './queryFixes';
import { describeCut, describeExpectedCut, limitWaysOf } from './limitOutcome';
import type { Estimate } from '../tap/estimateClient';

// the module that asks takes the service's address from the page's
vi.hoisted(() => Object.assign(globalThis, { document: { baseURI: 'http://localhost/' } }));

describe('replacements', () => {
    test.each([
        ['SELECT DISTNCE(1)', [{ start: 7, end: 14, text: 'DISTANCE' }], 'SELECT DISTANCE(1)', 'Change to DISTANCE'],
        ["SELECT '😀é', x", [{ start: 13, end: 14, text: 'y' }], "SELECT '😀é', y", 'Change to y'],
        ['TOP 10% ra', [{ start: 6, end: 7, text: '' }], 'TOP 10 ra', 'Remove %'],
        ['a,b', [{ start: 0, end: 1, text: 'x' }, { start: 2, end: 3, text: 'yy' }], 'x,yy', 'Fix it'], // prettier-ignore
        ['FROM t', [{ start: 6, end: 6, text: ' TABLESAMPLE (8)' }], 'FROM t TABLESAMPLE (8)', 'Change to TABLESAMPLE (8)'], // prettier-ignore
        ['x', [{ start: 0, end: 1, text: 'y'.repeat(99) }], 'y'.repeat(99), 'Fix it'],
    ])('%s', (adql, fixes, expected, label) => {
        expect(applyFixes(adql, changesOf(adql, fixes))).toBe(expected);
        expect(applyFixes(`😀${adql}`, changesOf(`😀${adql}`, fixes, 2))).toBe(`😀${expected}`);
        expect(fixLabel(adql, fixes)).toBe(label);
    });
});

test.each([
    ['SELECT a FROM t', 'SELECT a, b FROM t', { from: 8, to: 8, insert: ', b' }],
    ['aaa', 'aa', { from: 2, to: 3, insert: '' }],
    ['', 'x', { from: 0, to: 0, insert: 'x' }],
    ['ab', 'cd', { from: 0, to: 2, insert: 'cd' }],
    ['same', 'same', undefined],
])('difference of %s and %s', (one, other, expected) => {
    const change = differenceOf(one, other);
    expect(change).toEqual(expected);
    if (change) expect(applyFixes(one, [change])).toBe(other);
});

describe('the row limit', () => {
    const sample = { start: 5, end: 5, text: ' TABLESAMPLE (82)' };
    const known = { rows: 120_521, precision: 'exact', limit: 100_000, order: 'sky', warning: 'cut', sample } as const;
    const foreseen = (result: Partial<Estimate['result']>): Estimate =>
        ({ result: { ...known, ...result }, maxrec: { default: 100_000, hard: 1_000_000 } }) as Estimate;

    test.each([
        [{}, 120_521, 'Run with all 120,521 rows'],
        [{ precision: 'about' }, 150_652, 'Run with up to 150,652 rows'],
        [{ precision: 'at most' }, 120_521, 'Run with up to 120,521 rows'],
        [{ rows: 5_000_000 }, 1_000_000, 'Run with up to 1,000,000 rows'],
        [{ rows: null, precision: null }, 1_000_000, 'Run with up to 1,000,000 rows'],
        [{ limit: 1_000_000, rows: 5_000_000 }, undefined, undefined],
    ] as const)('%o is raised', (result, maxrec, label) => {
        const { raise } = limitWaysOf(foreseen(result));
        expect([raise?.maxrec, raise?.label]).toEqual([maxrec, label]);
    });

    test('a sample is offered where the service knows one', () => {
        expect(limitWaysOf(foreseen({})).sample?.label).toBe('Run a sample of 82 %, from the whole sky');
        expect(limitWaysOf(foreseen({ order: '' })).sample?.label).toBe('Run a sample of 82 %');
        expect(limitWaysOf(foreseen({ sample: null })).sample).toBe(undefined);
    });

    test('what it will cut is told', () => {
        expect(describeExpectedCut(foreseen({}).result)).toBe(
            '120,521 rows: the row limit of 100,000 will cut the result. ' +
                'Rows come in HEALPix order, so parts of the sky would be missing.',
        );
        expect(describeExpectedCut(foreseen({ precision: 'about', order: '' }).result)).toBe(
            'About 120,521 rows: the row limit of 100,000 will probably cut the result.',
        );
        expect(describeExpectedCut(foreseen({ warning: '' }).result)).toBe('');
    });

    test('what it has cut is told', () => {
        const words = (result: object) => describeCut(foreseen(result).result, 100_000);
        expect(words({})).toBe(
            'The row limit cut the result at 100,000 of 120,521 rows. ' +
                'Rows come in HEALPix order: parts of the sky are missing.',
        );
        expect(words({ precision: 'about', order: 'asked' })).toBe(
            'The row limit cut the result at 100,000 of about 120,521 rows. ' +
                'The last rows in the order of the query are missing.',
        );
        const unknown = 'The row limit cut the result at 100,000 rows; there are more.';
        expect([words({ rows: null, order: '' }), words({ precision: 'at most', order: '' })]).toEqual([
            unknown,
            unknown,
        ]);
    });
});
