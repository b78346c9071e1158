import { expect, test } from 'vitest';
import { readAngle, readInstant, readNumber } from './typedValues';

test.each([
    ['5', 'deg', '5', undefined],
    ['+5.5', 'mag', '5.5', undefined],
    ['−3', 'mag', '-3', undefined],
    ['5 arcsec', 'deg', '0.001388888888889', '0.001388888888889 deg'],
    ['5"', 'arcsec', '5', '5 arcsec'],
    ['2 mas/yr', 'mas.yr**-1', '2', '2 mas/yr'],
    ['10 km/s', 'm.s**-1', '10000', '10000 m/s'],
    ['9223372036854775807', '', '9223372036854775807', undefined],
    ['1e-3', 'Jy', '1e-3', undefined],
    ['50 %', '', '0.5', '0.5'],
])('%s in %s is %s', (typed, unit, sql, converted) => {
    expect(readNumber(typed, unit)).toEqual(converted === undefined ? { sql } : { sql, converted });
});

test.each([
    ['bright', 'mag', '“bright” is not a number.'],
    ['3,5', 'mag', '“3,5” is not a number: write 3.5.'],
    ['5 km/s', 'mas.yr**-1', 'The column is in mas/yr; km/s cannot be converted to it.'],
    ['5 furlongs', 'deg', 'The unit “furlongs” is not known here. The column is in deg.'],
    ['5 mag', '', 'The column has no unit: enter the number without mag.'],
    ["5'; DROP TABLE x --", '', "The unit “'; DROP TABLE x --” is not known here."],
])('%s in %s is refused', (typed, unit, problem) => expect(readNumber(typed, unit)).toEqual({ problem }));

test('instants', () => {
    expect(readInstant('2016-01-31')).toEqual({ sql: "CAST('2016-01-31T00:00:00' AS TIMESTAMP)" });
    expect(readInstant('yesterday')).toHaveProperty('problem');
});

test.each([
    ['2', 'arcsec', '2 / 3600.', 2 / 3600],
    ['2 arcsec', 'deg', '2 / 3600.', 2 / 3600],
    ['30 arcmin', 'arcsec', '0.5', 0.5],
    ['1', 'deg', '1', 1],
] as const)('the angle %s, in %s unless it says so', (typed, unit, sql, degrees) => {
    const read = readAngle(typed, unit);
    expect(read).toMatchObject({ sql });
    expect(read.degrees).toBeCloseTo(degrees, 12);
});

test.each(['0', '-1', '181', '', '2 km'])('%s is no angle', (typed) =>
    expect(readAngle(typed, 'deg')).toHaveProperty('problem'),
);
