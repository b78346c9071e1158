import { expect, test } from 'vitest';
import type { Field } from '../../model/resultModel';
import { defaultSettings } from './defaultSettings';
import { isMagnitude } from '../points/plotSettings';

const field = (name: string, kind: Field['kind'] = 'number'): Field =>
    ({ name, kind, datatype: 'double' }) as unknown as Field;

test('a light curve without units and UCDs is known by the names of its columns', () => {
    const usual = defaultSettings([field('time'), field('error'), field('mag'), field('band', 'text')]);
    expect(usual).toMatchObject({ kind: 'curve', error: 1, band: 3 });
    expect(usual.axes).toMatchObject({ time: { column: 0 }, flux: { column: 2 } });
});

test.each([
    ['mag', true],
    ['g_mag', true],
    ['e_mag', false],
    ['image', false],
])('%s is a magnitude: %s', (name, expected) => expect(isMagnitude(field(name))).toBe(expected));
