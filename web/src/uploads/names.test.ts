import { expect, test } from 'vitest';
import { unquoted } from '../tap/names';
import { isTableName, tableName, unique, written } from './names';

test('names are quoted where ADQL wants it', () => {
    expect(written('ra')).toBe('ra');
    expect(written('RAJ2000')).toBe('RAJ2000');
    expect(written('Size')).toBe('"Size"');
    expect(written('_r')).toBe('"_r"');
    expect(written('2mass')).toBe('"2mass"');
    expect(written('B-V')).toBe('"B-V"');
    expect(written('a"b')).toBe('"a""b"');
    expect(written('größe')).toBe('"größe"');
    expect(written('')).toBe('""');
});

test('published names are read back', () => {
    for (const name of ['ra', 'size', 'a"b', '"x"', 'B-V', '"']) expect(unquoted(written(name))).toBe(name);
});

test('tables are named after their files', () => {
    expect(tableName('stars.csv', [])).toBe('stars');
    expect(tableName('my stars (2).fits', [])).toBe('my_stars_2');
    expect(tableName('M31.vot.gz', [])).toBe('M31');
    expect(tableName('2mass.fits', [])).toBe('t_2mass');
    expect(tableName('select.csv', [])).toBe('select_table');
    expect(tableName('Größe.csv', [])).toBe('Gro_e');
    expect(tableName('…', [])).toBe('t');
    expect(tableName('stars.vot', ['Stars', 'stars_2'])).toBe('stars_3');
    expect(tableName('x'.repeat(90) + '.csv', []).length).toBe(40);
});

test('names of tables', () => {
    expect(isTableName('mine')).toBe(true);
    for (const name of ['', '1a', 'a b', 'table', 'a'.repeat(65), '"a"']) expect(isTableName(name)).toBe(false);
});

test('unique names', () => {
    expect(unique('ra', [])).toBe('ra');
    expect(unique('ra', ['RA'])).toBe('ra_2');
    expect(unique('ra', ['RA', 'ra_2'])).toBe('ra_3');
});
