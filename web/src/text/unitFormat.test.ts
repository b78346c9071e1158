import { expect, test } from 'vitest';
import { formatUnit, unitFactors } from './unitFormat';

test.each([
    ['mas.yr**-1', 'mas/yr'],
    ['mas/yr', 'mas/yr'],
    ['km.s**-1', 'km/s'],
    ['km s**(-1)', 'km/s'],
    ['erg.s**-1.cm**-2', 'erg/s/cm²'],
    ['km.s**-1.Mpc**-1', 'km/s/Mpc'],
    ['m/s**2', 'm/s²'],
    ['e/s.kg', 'e kg/s'],
    ['s**-1', 's⁻¹'],
    ['m**0.5', 'm^0.5'],
    ['deg', 'deg'],
    ['', ''],
    ["'electron'.s**-1", "'electron'/s"],
    ['10**-3.Jy', '10⁻³ Jy'],
    ['log(cm.s**-2)', 'log(cm.s**-2)'],
    ['mag.', 'mag.'],
    ['h:m:s', 'h:m:s'],
])('%s is shown as %s', (unit, shown) => {
    expect(formatUnit(unit)).toBe(shown);
});

test('factors have their powers', () => {
    expect(unitFactors('erg.s**-1/cm**2')).toEqual([
        { name: 'erg', power: 1 },
        { name: 's', power: -1 },
        { name: 'cm', power: -2 },
    ]);
    expect(unitFactors('sqrt(m)')).toBeUndefined();
});
