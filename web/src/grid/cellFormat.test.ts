import { expect, test } from 'vitest';
import { shortestFloat } from '../model/columnParts';
import { nextDouble } from '../model/adjacentFloats';
import { parseCondition } from './typedCondition';
import { formatSexagesimal, sexagesimalOf, formatCell, styleOf } from './cellFormat';
import type { Field } from '../model/resultModel';
import { formatMicros, formatMjd, parseMicros, parseMjd } from '../model/instants';
import { fileName } from '../browser/saveFile';
import { writeLine } from '../model/separatedText';

const number: Field = { name: 'x', kind: 'number', datatype: 'double' };
const field = (kind: Field['kind']): Field => ({ ...number, kind });

test.each([
    ['5', { min: 5, max: 5 }],
    ['= -5e3', { min: -5000, max: -5000 }],
    ['>= 5', { min: 5 }],
    ['<=5', { max: 5 }],
    ['3..4.5', { min: 3, max: 4.5 }],
    ['-3 .. -1', { min: -3, max: -1 }],
    ['3..', { min: 3 }],
    ['..3', { max: 3 }],
    ['> 5', { min: 5.000000000000001 }],
    ['<0', { max: -5e-324 }],
])('%s is a condition on numbers', (typed, range) => {
    expect(parseCondition(typed, number, 7)).toEqual({ column: 7, ...range });
});

test.each(['abc', '>', '..', '5 6', '0x10', '1..b'])('%s is none', (typed) => {
    expect(parseCondition(typed, number, 0)).toBe('wrong');
});

test('other kinds have their own conditions; blanks are none', () => {
    expect(parseCondition('  ', number, 0)).toBeUndefined();
    expect(parseCondition(' NGC ', field('text'), 1)).toEqual({ column: 1, contains: 'NGC' });
    expect(parseCondition('Yes', field('boolean'), 1)).toEqual({ column: 1, min: 1, max: 1 });
    expect(parseCondition('false', field('boolean'), 1)).toEqual({ column: 1, min: 0, max: 0 });
    expect(parseCondition('maybe', field('boolean'), 1)).toBe('wrong');
    expect(parseCondition('>= 2000-01-01T12:00', field('time'), 1)).toEqual({ column: 1, min: 51544.5 });
    expect(parseCondition('2000-01-01..2000-01-02', field('time'), 1)).toEqual({ column: 1, min: 51544, max: 51545 });
});

test('the next double', () => {
    expect(nextDouble(1, 1)).toBe(1 + Number.EPSILON);
    expect(nextDouble(-1, 1)).toBe(-1 + Number.EPSILON / 2);
    expect(nextDouble(Infinity, 1)).toBe(Infinity);
});

test.each([
    [0n, '1970-01-01T00:00:00'],
    [1451606400250000n, '2016-01-01T00:00:00.25'],
    [1451606400000001n, '2016-01-01T00:00:00.000001'],
    [-1n, '1969-12-31T23:59:59.999999'],
    [1451606410000000n, '2016-01-01T00:00:10'],
    [-2208988800000000n, '1900-01-01T00:00:00'],
])('%s microseconds are %s', (value, said) => {
    expect(formatMicros(value)).toBe(said);
    expect(parseMicros(said)).toBe(value);
});

test('instants as the user may write them', () => {
    expect(parseMjd('2000-01-01')).toBe(51544);
    expect(parseMjd('2000-01-01 12:00Z')).toBe(51544.5);
    expect(parseMjd('2000-02')).toBe(51575);
    expect(parseMjd('2000-13-01')).toBeNaN();
    expect(parseMjd('yesterday')).toBeNaN();
    expect(formatMjd(51544.5)).toBe('2000-01-01T12:00:00');
});

test('numbers of a column have as many digits as they need, and their points below each other', () => {
    const style = styleOf(number, [47.1165, 2.5, null, NaN, 3]);
    expect([47.1165, 2.5, NaN, null].map((value) => formatCell(value, style))).toEqual([
        '47.1165',
        '2.5000',
        'NaN',
        'NULL',
    ]);
    expect(formatCell(47.11654166666667, styleOf(number, [47.11654166666667]))).toBe('47.1165417');
    expect(formatCell(1.234567e-12, styleOf(number, [1.5, 2.25]))).toBe('1.23457e-12');
    expect(formatCell(12n, styleOf({ ...number, datatype: 'long' }, [12n]))).toBe('12');
    expect(formatCell(2e20, styleOf(number, [2e20, 0.5]))).toBe('200000000000000000000.0');
});

test('floats have their own digits, not the digits of a double', () => {
    expect([1.18, 0.1, 16777217, 3.4e38, 1e-45].map((value) => shortestFloat(Math.fround(value)))).toEqual([
        1.18, 0.1, 16777216, 3.4e38, 1.4013e-45,
    ]);
});

test('angles in hours and degrees', () => {
    expect(formatSexagesimal(47.11654166666667, 'hours')).toBe('03:08:27.970');
    expect(formatSexagesimal(-0.5, 'degrees')).toBe('-00:30:00.00');
    expect(formatSexagesimal(2.1085833333, 'degrees')).toBe('+02:06:30.90');
    expect(formatSexagesimal(359.9999999999, 'hours')).toBe('00:00:00.000');
    expect(formatSexagesimal(-89.999999999, 'degrees')).toBe('-90:00:00.00');
    expect(sexagesimalOf({ ...number, unit: 'deg', ucd: 'pos.eq.ra;meta.main' })).toBe('hours');
    expect(sexagesimalOf({ ...number, unit: 'deg', ucd: 'pos.eq.dec' })).toBe('degrees');
    expect(sexagesimalOf({ ...number, unit: 'mas/yr', ucd: 'pos.eq.ra' })).toBeUndefined();
    expect(sexagesimalOf({ ...number, unit: 'deg', ucd: 'pos.galactic.lon' })).toBeUndefined();
});

test('lines of CSV and of tabs', () => {
    const cells = ['a,b', 'say "hi"', '', null, 9007199254740993n, NaN, true, 'two\nlines', 0.1];
    expect(writeLine(cells, 'csv')).toBe('"a,b","say ""hi""","",,9007199254740993,NaN,true,"two\nlines",0.1\r\n');
    expect(writeLine(cells, 'tsv')).toBe('a,b\tsay "hi"\t\t\t9007199254740993\tNaN\ttrue\ttwo lines\t0.1\n');
});

test('a title becomes the name of a file', () => {
    expect(fileName('My: result / 2', 'csv')).toBe('My_result_2.csv');
    expect(fileName('../..', 'csv')).toBe('result.csv');
});
