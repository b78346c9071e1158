import { describe, expect, test } from 'vitest';
import { mjdToIso, linearTicks, logTicks, powerLabel, shortNumber, timeTicks } from './axisTicks';
import { multiplesWithin, niceStep } from './roundSteps';

const labels = (ticks: { label: string }[]) => ticks.map(({ label }) => label).filter(Boolean);

describe('round numbers', () => {
    test('steps are 1, 2 or 5 times a power of ten', () => {
        expect([niceStep(10, 5), niceStep(9, 5), niceStep(0.04, 8), niceStep(1234, 4)]).toEqual([2, 2, 0.005, 500]);
    });
    test('labels have the digits that the step needs', () => {
        expect(labels(linearTicks(0, 1, 5))).toEqual(['0.0', '0.2', '0.4', '0.6', '0.8', '1.0']);
        expect(labels(linearTicks(-10, 10, 4))).toEqual(['−10', '−5', '0', '5', '10']);
        expect(labels(linearTicks(55000.1, 55000.4, 3))).toEqual(['55000.1', '55000.2', '55000.3', '55000.4']);
    });
    test('a reversed axis has the same ticks', () => {
        expect(linearTicks(21, 3, 6)).toEqual(linearTicks(3, 21, 6));
    });
    test('very large and very small values are written as powers of ten', () => {
        expect(labels(linearTicks(0, 4e12, 4))).toEqual(['0', '1×10¹²', '2×10¹²', '3×10¹²', '4×10¹²']);
        expect(labels(linearTicks(0, 4e-9, 2))).toEqual(['0', '2×10⁻⁹', '4×10⁻⁹']);
    });
    test('no range, no ticks; never an endless number of them', () => {
        expect(linearTicks(5, 5, 5)).toEqual([]);
        expect(linearTicks(NaN, 1, 5)).toEqual([]);
        expect(linearTicks(0, Infinity, 5)).toEqual([]);
        expect(multiplesWithin(0, 1e9, 1)).toHaveLength(1000);
    });
});

describe('logarithms', () => {
    test('powers of ten, with small ticks between', () => {
        const ticks = logTicks(0, 3, 5);
        expect(labels(ticks)).toEqual(['1', '10', '100', '1000']);
        expect(ticks.filter(({ label }) => !label)).toHaveLength(24);
        expect(ticks.every(({ at }) => at >= 0 && at <= 3)).toBe(true);
    });
    test('over many decades some of them', () => {
        expect(labels(logTicks(-10, 10, 5))).toEqual(['10⁻¹⁰', '10⁻⁵', '1', '10⁵', '10¹⁰']);
    });
    test('within a decade round numbers', () => {
        expect(labels(logTicks(Math.log10(20), Math.log10(60), 4))).toEqual(['20', '30', '40', '50', '60']);
        expect(labels(logTicks(0, 1.5, 4))).toContain('20');
    });
    test('of powers', () => {
        expect([-4, -3, 0, 3, 12].map(powerLabel)).toEqual(['10⁻⁴', '0.001', '1', '1000', '10¹²']);
    });
});

describe('instants', () => {
    test('MJD as ISO', () => {
        expect(mjdToIso(40587)).toBe('1970-01-01T00:00:00');
        expect(mjdToIso(57388.25, 'ms')).toBe('2016-01-01T06:00:00.000');
        expect(mjdToIso(1e12)).toBe('');
    });
    test('years, months, days, hours, seconds', () => {
        expect(labels(timeTicks(51544, 59000, 5))).toEqual(['2000', '2005', '2010', '2015', '2020']);
        expect(labels(timeTicks(57388, 57570, 2))).toEqual(['2016-01', '2016-04', '2016-07']);
        expect(labels(timeTicks(57388, 57392, 4))).toEqual(['2016-01-01', '2016-01-02', '2016-01-03', '2016-01-04', '2016-01-05']); // prettier-ignore
        expect(labels(timeTicks(57388, 57388.5, 4))).toEqual(['01-01 00:00', '01-01 03:00', '01-01 06:00', '01-01 09:00', '01-01 12:00']); // prettier-ignore
        expect(labels(timeTicks(57388, 57388 + 10.1 / 86400, 3))).toEqual(['00:00:00', '00:00:05', '00:00:10']);
        expect(timeTicks(57388, 57388 + 1e-6, 3).length).toBeGreaterThan(1);
        expect(timeTicks(1e9, 2e9, 3).length).toBeGreaterThan(1);
    });
});

test('numbers for reading', () => {
    expect([0, 1.5, -2.25, 1e12, 1.23456789e-7, 123456.789].map(shortNumber)).toEqual(['0', '1.5', '−2.25', '1×10¹²', '1.2346×10⁻⁷', '123456.789']); // prettier-ignore
});
