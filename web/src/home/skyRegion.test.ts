import { describe, expect, test } from 'vitest';
import { text } from '../text';
import { toVector } from '../sky/directions';
import { cellAt } from '../sky/healpixCells';
import { makeRegionTest, outlineOf, readMoc, regionCondition, type SkyRegion } from './skyRegion';

const WHERE = { ra: 'ra', dec: 'dec' };
const inside = (region: SkyRegion, ra: number, dec: number) => makeRegionTest(region)(...toVector(ra, dec));

describe('regions', () => {
    test('a circle', () => {
        const region = { kind: 'circle', centre: [0.5, 89], radius: 2 } as const;
        expect(regionCondition(region, WHERE)).toBe('DISTANCE(POINT(ra, dec), POINT(0.5, 89)) <= 2');
        expect([inside(region, 180, 89.5), inside(region, 0.5, 86.9)]).toEqual([true, false]);
        for (const [ra, dec] of outlineOf(region)) expect(inside({ ...region, radius: 2.001 }, ra, dec)).toBe(true);
    });

    test('a polygon across the meridian 0 and one around the pole', () => {
        const region = { kind: 'polygon', corners: [[359, -1], [1, -1], [1, 1], [359, 1]] } as const; // prettier-ignore
        expect(regionCondition(region, WHERE)).toBe(
            '1 = CONTAINS(POINT(ra, dec), POLYGON(359, -1, 1, -1, 1, 1, 359, 1))',
        );
        expect([
            inside(region, 0, 0),
            inside(region, 359.2, 0.9),
            inside(region, 2, 0),
            inside(region, 180, 0),
        ]).toEqual([...[true, true, false, false]]);
        const polar = { kind: 'polygon', corners: [[0, 80], [120, 80], [240, 80]] } as const; // prettier-ignore
        expect([inside(polar, 33, 89), inside(polar, 0, 79), inside(polar, 60, 80)]).toEqual([true, false, false]);
    });

    test.each([
        ['6/1-3 7/20', '6/1-3 7/20'],
        ['6/ 1,2 3\n7/20', '6/1-3 7/20'],
        ['{"7": [20], "6": [3, 1, 2]}', '6/1-3 7/20'],
    ])('a MOC: %s', (typed, written) => {
        const region = readMoc(typed, text.home.moc);
        expect(regionCondition(region, WHERE)).toBe(`1 = CONTAINS(POINT(ra, dec), REGION('${written}'))`);
        const cell = cellAt(6, 47, 3);
        expect(inside(readMoc(`6/${cell}`, text.home.moc), 47, 3)).toBe(true);
        expect(inside(readMoc(`6/${cell + 1}`, text.home.moc), 47, 3)).toBe(false);
    });

    test.each([
        ['', 'no cells'],
        ["6/1') OR 1=1", 'not part of a MOC'],
        ['5', 'not part of a MOC'],
        ['0/12', 'no cell 12 of order 0'],
        ['13/1', 'orders up to 12'],
        ['12/0-99999', 'more than 20000 cells'],
        ['{"6": ["1"]}', 'not part of a MOC'],
        ['{"6": [1', 'not part of a MOC'],
    ])('a invalid MOC is refused: %s', (typed, message) => {
        expect(() => readMoc(typed, text.home.moc)).toThrow(message);
    });
});
