import { describe, expect, test } from 'vitest';
import { cellAt, coarsenCounts } from './healpixCells';

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

/** Cells of order 12 along a spiral from the north pole, of cdshealpix 0.7. */
// prettier-ignore
const SPIRAL = [
    15728639, 32532334, 62898257, 13099805, 45717910, 57640245, 27776889, 40311454, 10820009, 21961381, 59581849,
    4662933, 42281321, 82782821, 19715417, 132568661, 2414246, 114219418, 51174038, 96920938, 33875558, 74377562,
    111995478, 124185257, 94770597, 107222681, 76421525, 88873577, 126231909, 71575129, 103688533, 200026534,
    86387354, 182572438, 67884650, 164223334, 117693018, 146924886, 179037610, 191489701, 161733182, 174266501,
    143527942, 155883178, 193207824, 136073054, 170000263, 184919385,
];

describe('HEALPix, NESTED', () => {
    test('cells of directions agree with cdshealpix', () => {
        for (const [longitude, latitude, ...cells] of CELLS) {
            expect([0, 3, 7, 12].map((order) => cellAt(order, longitude, latitude))).toEqual(cells);
        }
    });
    test('the functions of the service give the same: ivo_healpix_index(0, 1, 1) is 4', () => {
        expect(cellAt(0, 1, 1)).toBe(4);
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
    test('cells of directions on a spiral agree with cdshealpix', () => {
        const latitude = (k: number) => (Math.asin(1 - (2 * k + 1) / SPIRAL.length) * 180) / Math.PI;
        expect(SPIRAL.map((_, k) => cellAt(12, (k * 137.50776405) % 360, latitude(k)))).toEqual(SPIRAL);
    });
    test('counts add up in coarser cells', () => {
        const whole = coarsenCounts(2, [0, 1, 16, 191], [5, 6, 7, 8], 0);
        expect([...whole]).toEqual([11, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8]);
    });
});
