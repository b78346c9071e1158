import { describe, expect, it, vi } from 'vitest';
import type { Column } from '../tap/vosiTables';
import {
    basicsOf,
    basicsQuery,
    binsQuery,
    frequentQuery,
    histogramOf,
    histogramQuery,
    statisticsKindOf,
    percentText,
    rangeOf,
    chooseSample,
    shortValue,
} from './columnStatistics';

// the module that asks takes the service's address from the page's
vi.hoisted(() => Object.assign(globalThis, { document: { baseURI: 'http://localhost/' } }));

const column = (name: string, datatype: string, arraysize = '', xtype = '') =>
    ({ name, datatype, arraysize, xtype, unit: '', ucd: '' }) as Column;
const whole = { from: 's.t', percent: 100 };
const mag = column('mag', 'float');
const when = column('"obs time"', 'char', '*', 'timestamp');

describe('kinds', () => {
    it('are the values of VOTable', () => {
        expect(statisticsKindOf(mag)).toBe('number');
        expect(statisticsKindOf(when)).toBe('time');
        expect(statisticsKindOf(column('a', 'unicodeChar', '*'))).toBe('text');
        expect(statisticsKindOf(column('a', 'char', '*', 'adql:REGION'))).toBe('other');
        expect(statisticsKindOf(column('a', 'double', '2', 'point'))).toBe('other');
        expect(statisticsKindOf(column('a', 'boolean'))).toBe('boolean');
    });
});

describe('queries', () => {
    it('ask for several columns at once', () => {
        expect(basicsQuery(whole, [mag, column('flag', 'boolean'), when])).toBe(
            'SELECT COUNT(*) AS n, COUNT(mag) AS n0, MIN(mag) AS lo0, MAX(mag) AS hi0, COUNT(flag) AS n1, ' +
                'COUNT("obs time") AS n2, MIN("obs time") AS lo2, MAX("obs time") AS hi2\nFROM s.t',
        );
        const range = { from: 0, to: 2, bins: 30, log: false };
        expect(
            histogramQuery(whole, [
                [mag, range],
                [when, range],
            ]),
        ).toBe(
            'SELECT ivo_histogram(mag, 0, 2, 30) AS h0, ivo_histogram(ivo_to_mjd("obs time"), 0, 2, 30) AS h1\nFROM s.t',
        );
        expect(frequentQuery(whole, column('type', 'char', '*'))).toContain('GROUP BY type\nORDER BY n DESC');
        expect(binsQuery('s.t', mag, { from: 0, to: 3, bins: 30, log: false })).toContain('FLOOR(mag / 0.1)');
    });

    it('look at a sample of large tables', () => {
        expect(chooseSample('s.t', 5_000_000)).toEqual(whole);
        expect(chooseSample('s.t', 2_000_000_000)).toEqual({ from: 's.t AS t TABLESAMPLE (0.05)', percent: 0.05 });
        expect(chooseSample('s.t', 37_000_000_000_000).from).toBe('s.t AS t TABLESAMPLE (0.0000027)');
    });
});

describe('answers', () => {
    it('are told apart by column', () => {
        const [first, second] = basicsOf(
            [mag, column('flag', 'boolean')],
            ['n', 'n0', 'lo0', 'hi0', 'n1'],
            [10, 8, -1, 9, 10],
        );
        expect(first).toEqual({ rows: 10, missing: 2, min: -1, max: 9 });
        expect(second).toEqual({ rows: 10, missing: 0, min: null, max: null });
    });

    it('give ranges only where there are numbers that differ', () => {
        const basics = (min: number | string | bigint | null, max: number | string | bigint | null) => ({
            rows: 5,
            missing: 0,
            min,
            max,
        });
        expect(rangeOf(column('a', 'double'), basics(1, 3))).toEqual({ from: 1, to: 3, bins: 30, log: false });
        expect(rangeOf(column('a', 'short'), basics(1, 3))).toEqual({ from: 0.5, to: 3.5, bins: 3, log: false });
        expect(rangeOf(column('a', 'long'), basics(1n, 4611686018427387905n))?.bins).toBe(30);
        expect(rangeOf(column('a', 'int'), basics(0, 180))).toEqual({ from: -0.5, to: 181.5, bins: 26, log: false });
        expect(rangeOf(mag, basics(1, 3))!.from).toBeLessThan(1);
        expect(rangeOf(column('a', 'double'), basics(0.01, 100))?.log).toBe(true);
        expect(rangeOf(column('a', 'double'), basics(0.01, 100))?.to).toBeCloseTo(2);
        expect(rangeOf(column('a', 'double'), basics(-0.01, 100))?.log).toBe(false);
        expect(rangeOf({ ...column('a', 'double'), unit: 'deg' }, basics(0.01, 359))?.log).toBe(false);
        expect(rangeOf(column('a', 'int'), basics(1, 118322))?.log).toBe(false);
        expect(rangeOf(mag, basics('NaN', 'NaN'))).toBeUndefined();
        expect(rangeOf(mag, basics(0, 'Infinity'))).toBeUndefined();
        expect(rangeOf(mag, basics(null, null))).toBeUndefined();
        expect(rangeOf(mag, basics(2, 2))).toBeUndefined();
        expect(rangeOf(when, basics('2000-01-01T12:00:00.000000', '2000-01-02T12:00:00Z'))).toMatchObject({
            from: 51544.5,
            to: 51545.5,
        });
    });

    it('count NaN apart from NULL, and the maximum in the last bin', () => {
        const histogram = histogramOf({ from: 0, to: 1, bins: 2, log: false }, [5, 1, 2, 1], 3);
        expect(histogram).toEqual({ from: 0, to: 1, log: false, counts: [1, 3], nan: 2 });
    });
});

describe('values', () => {
    it('are shown in few characters', () => {
        expect(['a', 0.1 + 0.2, 1234567, 4611686018427387905n, null, 1e-20].map(shortValue)).toEqual([
            'a',
            '0.3',
            '1234567',
            '4611686018427387905',
            '–',
            '1e-20',
        ]);
        expect(shortValue('2026-01-31T12:00:00.000000')).toBe('2026-01-31T12:00:00');
    });

    it('round no part to nothing or to all', () => {
        expect([
            percentText(0, 10),
            percentText(10, 10),
            percentText(1, 1e9),
            percentText(1e9 - 1, 1e9),
            percentText(1, 8),
        ]).toEqual(['0 %', '100 %', '< 0.01 %', '> 99.99 %', '13 %']);
    });
});
