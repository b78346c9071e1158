import { expect, test } from 'vitest';
import { isTableName, quoteName, tableNameOfFile, makeUnique, unquoteName } from './adqlNames';

test('names are quoted where ADQL wants it', () => {
    expect(quoteName('ra')).toBe('ra');
    expect(quoteName('RAJ2000')).toBe('RAJ2000');
    expect(quoteName('Size')).toBe('"Size"');
    expect(quoteName('_r')).toBe('"_r"');
    expect(quoteName('2mass')).toBe('"2mass"');
    expect(quoteName('B-V')).toBe('"B-V"');
    expect(quoteName('a"b')).toBe('"a""b"');
    expect(quoteName('größe')).toBe('"größe"');
    expect(quoteName('')).toBe('""');
});

test('quoted names are unquoted again', () => {
    for (const name of ['ra', 'size', 'a"b', '"x"', 'B-V', '"']) expect(unquoteName(quoteName(name))).toBe(name);
});

test('tables are named after their files', () => {
    expect(tableNameOfFile('stars.csv', [])).toBe('stars');
    expect(tableNameOfFile('my stars (2).fits', [])).toBe('my_stars_2');
    expect(tableNameOfFile('M31.vot.gz', [])).toBe('M31');
    expect(tableNameOfFile('2mass.fits', [])).toBe('t_2mass');
    expect(tableNameOfFile('select.csv', [])).toBe('select_table');
    expect(tableNameOfFile('Größe.csv', [])).toBe('Gro_e');
    expect(tableNameOfFile('…', [])).toBe('t');
    expect(tableNameOfFile('stars.vot', ['Stars', 'stars_2'])).toBe('stars_3');
    expect(tableNameOfFile('x'.repeat(90) + '.csv', []).length).toBe(40);
});

test('names of tables', () => {
    expect(isTableName('mine')).toBe(true);
    for (const name of ['', '1a', 'a b', 'table', 'a'.repeat(65), '"a"']) expect(isTableName(name)).toBe(false);
});

test('unique names', () => {
    expect(makeUnique('ra', [])).toBe('ra');
    expect(makeUnique('ra', ['RA'])).toBe('ra_2');
    expect(makeUnique('ra', ['RA', 'ra_2'])).toBe('ra_3');
});
