import { describe, expect, test } from 'vitest';
import { separationOf } from './directions';
import { cellAt, cellCount, centreOf, coarsenCounts, cornersOf, countCells } from './healpixCells';

/** [longitude, latitude, the cells of the orders 0, 3, 7, 12], of cdshealpix 0.7. */
const CELLS = [
    [10.3, 20.1, 4, 310, 79453, 81360280],
    [45, 41.9, 0, 48, 12288, 12582927],
    [200.5, -75.2, 10, 642, 164587, 168537142],
    [359.99, 0.1, 4, 304, 77824, 79691826],
    [0.01, -0.01, 4, 271, 69631, 71303167],
    [83.6, 22.01, 5, 377, 96742, 99064152],
    [266.4, -28.9, 7, 450, 115320, 118088319],
    [120, 89.9, 1, 127, 32767, 33554406],
    [300.2, -89.99, 11, 704, 180224, 184549376],
    [180, 66.6, 2, 186, 47786, 48933627],
] as const;

describe('HEALPix, NESTED', () => {
    test('cells of directions agree with cdshealpix', () => {
        for (const [longitude, latitude, ...cells] of CELLS) {
            expect([0, 3, 7, 12].map((order) => cellAt(order, longitude, latitude))).toEqual(cells);
        }
    });
    test('the functions of the service give the same: ivo_healpix_index(0, 1, 1) is 4', () => {
        expect(cellAt(0, 1, 1)).toBe(4);
        expect(centreOf(0, 6)).toEqual([180, 0]);
    });
    test('longitudes may be any number of turns away', () => {
        expect(cellAt(9, -350, 20)).toBe(cellAt(9, 10, 20));
        expect(cellAt(9, 730, 20)).toBe(cellAt(9, 10, 20));
    });
    test('poles and edges are in some cell; what is no direction is in none', () => {
        for (const order of [0, 5, 12]) {
            for (const [longitude, latitude] of [
                [0, 90],
                [0, -90],
                [360, 0],
                [90, 41.8103149],
                [45, 0],
                [0, -41.8103149],
            ] as const)
                // prettier-ignore
                expect(cellAt(order, longitude, latitude)).toBeGreaterThanOrEqual(0);
        }
        expect([cellAt(3, NaN, 0), cellAt(3, 0, NaN), cellAt(3, 0, 90.1), cellAt(3, Infinity, 0)]).toEqual([
            -1, -1, -1, -1,
        ]);
    });
    test('centres agree with cdshealpix and lie in their cells', () => {
        const [longitude, latitude] = centreOf(12, 150000000);
        expect(longitude).toBeCloseTo(45.791015625, 9);
        expect(latitude).toBeCloseTo(-16.092029164, 9);
        for (let cell = 0; cell < cellCount(3); cell++) expect(cellAt(3, ...centreOf(3, cell))).toBe(cell);
        for (let k = 0; k < 2000; k++) {
            const cell = (k * 100_663) % cellCount(12);
            expect(cellAt(12, ...centreOf(12, cell))).toBe(cell);
        }
    });
    test('corners agree with cdshealpix', () => {
        const expected = [[260.15625, -5.979157], [260.859375, -5.379379], [260.15625, -4.780192], [259.453125, -5.379379]] as const; // prettier-ignore
        cornersOf(6, 31000).forEach((corner, k) => expect(separationOf(corner, expected[k]!)).toBeLessThan(1e-6));
        const [south, east, north, west] = cornersOf(0, 0);
        expect([south, west[0], east[0]]).toEqual([[45, 0], 0, 90]);
        expect(north[1]).toBeCloseTo(90, 12);
    });
    test('counts leave out what is no direction, and add up in coarser cells', () => {
        const counts = countCells(2, [10.3, 10.31, NaN, 200.5], [20.1, 20.1, 0, -75.2]);
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3);
        expect(counts[cellAt(2, 10.3, 20.1)]).toBe(2);
        const whole = coarsenCounts(2, [0, 1, 16, 191], [5, 6, 7, 8], 0);
        expect([...whole]).toEqual([11, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8]);
    });
});
