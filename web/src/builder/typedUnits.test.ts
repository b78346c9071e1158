import { expect, test } from 'vitest';
import { convertValue, isKnownUnit } from './typedUnits';

test.each([
    [5, 'arcsec', 'deg', 5 / 3600],
    [5, '"', 'arcsec', 5],
    [3, '°', 'arcmin', 180],
    [2, 'mas/yr', 'mas.yr**-1', 2],
    [0.1, 'arcsec yr-1', 'mas.yr**-1', 100],
    [10, 'km/s', 'm.s**-1', 10_000],
    [10, 'km s^-1', 'km.s**-1', 10],
    [1, 'd', 'h', 24],
    [5000, 'Å', 'nm', 500],
    [2.2, 'µm', 'Angstrom', 22_000],
    [1, 'erg/s/cm²', 'W.m**-2', 1e-3],
    [3, 'mJy', 'Jy', 0.003],
    [20, 'mmag', 'mag', 0.02],
    [50, '%', '', 0.5],
    [1, 'pc', 'au', 648_000 / Math.PI],
    [7, '', '', 7],
])('%d %s is this number of %s', (value, from, to, expected) => {
    expect(convertValue(value, from, to)! / expected).toBeCloseTo(1, 11);
});

test('a minute is no milli-inch, and mas no milli-attosecond', () => {
    expect(convertValue(1, 'min', 's')).toBe(60);
    expect(convertValue(1000, 'mas', 'arcsec')).toBe(1);
});

test('units of different things, and unknown ones', () => {
    expect(convertValue(1, 'km/s', 'mas/yr')).toBeUndefined();
    expect(convertValue(1, 'mag', '')).toBeUndefined();
    expect(convertValue(1, 'furlong', 'm')).toBeUndefined();
    expect([isKnownUnit('furlong'), isKnownUnit('kmin'), isKnownUnit('km.s**-1')]).toEqual([false, false, true]);
});
