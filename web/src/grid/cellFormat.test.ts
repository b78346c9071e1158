import { expect, test } from 'vitest';
import { shortest } from '../model/columnParts';
import { condition, neighbour } from './typedCondition';
import { isLink, sexagesimal, sexagesimalOf, shownAs, styleOf } from './cellFormat';
import type { Field } from '../model/resultModel';
import { instant, instantOfMjd, micros, mjdOf } from '../model/instants';
import { fileName } from '../browser/saveFile';
import { line } from '../model/separatedText';

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
    expect(condition(typed, number, 7)).toEqual({ column: 7, ...range });
});

test.each(['abc', '>', '..', '5 6', '0x10', '1..b'])('%s is none', (typed) => {
    expect(condition(typed, number, 0)).toBe('wrong');
});

test('other kinds have conditions of their own; blanks are none', () => {
    expect(condition('  ', number, 0)).toBeUndefined();
    expect(condition(' NGC ', field('text'), 1)).toEqual({ column: 1, contains: 'NGC' });
    expect(condition('Yes', field('boolean'), 1)).toEqual({ column: 1, min: 1, max: 1 });
    expect(condition('false', field('boolean'), 1)).toEqual({ column: 1, min: 0, max: 0 });
    expect(condition('maybe', field('boolean'), 1)).toBe('wrong');
    expect(condition('>= 2000-01-01T12:00', field('time'), 1)).toEqual({ column: 1, min: 51544.5 });
    expect(condition('2000-01-01..2000-01-02', field('time'), 1)).toEqual({ column: 1, min: 51544, max: 51545 });
});

test('the next double', () => {
    expect(neighbour(1, 1)).toBe(1 + Number.EPSILON);
    expect(neighbour(-1, 1)).toBe(-1 + Number.EPSILON / 2);
    expect(neighbour(Infinity, 1)).toBe(Infinity);
});

test.each([
    [0n, '1970-01-01T00:00:00'],
    [1451606400250000n, '2016-01-01T00:00:00.25'],
    [1451606400000001n, '2016-01-01T00:00:00.000001'],
    [-1n, '1969-12-31T23:59:59.999999'],
    [1451606410000000n, '2016-01-01T00:00:10'],
    [-2208988800000000n, '1900-01-01T00:00:00'],
])('%s microseconds are %s', (value, said) => {
    expect(instant(value)).toBe(said);
    expect(micros(said)).toBe(value);
});

test('instants as the user may write them', () => {
    expect(mjdOf('2000-01-01')).toBe(51544);
    expect(mjdOf('2000-01-01 12:00Z')).toBe(51544.5);
    expect(mjdOf('2000-02')).toBe(51575);
    expect(mjdOf('2000-13-01')).toBeNaN();
    expect(mjdOf('yesterday')).toBeNaN();
    expect(instantOfMjd(51544.5)).toBe('2000-01-01T12:00:00');
});

test('numbers of a column have as many digits as they need, and their points below each other', () => {
    const style = styleOf(number, [47.1165, 2.5, null, NaN, 3]);
    expect([47.1165, 2.5, NaN, null].map((value) => shownAs(value, style))).toEqual([
        '47.1165',
        '2.5000',
        'NaN',
        'NULL',
    ]);
    expect(shownAs(47.11654166666667, styleOf(number, [47.11654166666667]))).toBe('47.1165417');
    expect(shownAs(1.234567e-12, styleOf(number, [1.5, 2.25]))).toBe('1.23457e-12');
    expect(shownAs(12n, styleOf({ ...number, datatype: 'long' }, [12n]))).toBe('12');
    expect(shownAs(2e20, styleOf(number, [2e20, 0.5]))).toBe('200000000000000000000.0');
});

test('floats have their own digits, not those of a double', () => {
    expect([1.18, 0.1, 16777217, 3.4e38, 1e-45].map((value) => shortest(Math.fround(value)))).toEqual([
        1.18, 0.1, 16777216, 3.4e38, 1.4013e-45,
    ]);
});

test('angles in hours and degrees', () => {
    expect(sexagesimal(47.11654166666667, 'hours')).toBe('03:08:27.970');
    expect(sexagesimal(-0.5, 'degrees')).toBe('-00:30:00.00');
    expect(sexagesimal(2.1085833333, 'degrees')).toBe('+02:06:30.90');
    expect(sexagesimal(359.9999999999, 'hours')).toBe('00:00:00.000');
    expect(sexagesimal(-89.999999999, 'degrees')).toBe('-90:00:00.00');
    expect(sexagesimalOf({ ...number, unit: 'deg', ucd: 'pos.eq.ra;meta.main' })).toBe('hours');
    expect(sexagesimalOf({ ...number, unit: 'deg', ucd: 'pos.eq.dec' })).toBe('degrees');
    expect(sexagesimalOf({ ...number, unit: 'mas/yr', ucd: 'pos.eq.ra' })).toBeUndefined();
    expect(sexagesimalOf({ ...number, unit: 'deg', ucd: 'pos.galactic.lon' })).toBeUndefined();
});

test('only addresses of the web are links', () => {
    expect(isLink('https://example.org/a?b=c')).toBe(true);
    expect(isLink('javascript:alert(1)')).toBe(false);
    expect(isLink('https://example.org two')).toBe(false);
    expect(isLink('ftp://example.org')).toBe(false);
    expect(isLink('http://[')).toBe(false);
    expect(isLink(5)).toBe(false);
});

test('lines of CSV and of tabs', () => {
    const cells = ['a,b', 'say "hi"', '', null, 9007199254740993n, NaN, true, 'two\nlines', 0.1];
    expect(line(cells, 'csv')).toBe('"a,b","say ""hi""","",,9007199254740993,NaN,true,"two\nlines",0.1\r\n');
    expect(line(cells, 'tsv')).toBe('a,b\tsay "hi"\t\t\t9007199254740993\tNaN\ttrue\ttwo lines\t0.1\n');
});

test('a title becomes the name of a file', () => {
    expect(fileName('My: result / 2', 'csv')).toBe('My_result_2.csv');
    expect(fileName('../..', 'csv')).toBe('result.csv');
});
