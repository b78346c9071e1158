import { expect, test } from 'vitest';
import { cellAt } from './healpixCells';
import { cellsOfPixels, countRange, logShade, paintCells } from './mapPixels';

const view = { u0: -2, u1: 2, v0: -1, v1: 1 };

test('every pixel shows the cell at its position; RA grows to the left', () => {
    const cells = cellsOfPixels(3, { frame: 'equatorial', centre: 180, view, width: 201, height: 101 });
    expect(cells[0]).toBe(-1);
    expect(cells[50 * 201 + 100]).toBe(cellAt(3, 180, 0));
    const left = cells[50 * 201 + 60]!;
    expect([...Array(60).keys()].map((k) => cellAt(3, 181 + k, 0))).toContain(left);
});

test('in the galactic frame the middle is the galactic centre', () => {
    const cells = cellsOfPixels(6, { frame: 'galactic', centre: 0, view, width: 401, height: 201 });
    expect(cells[100 * 401 + 200]).toBe(cellAt(6, 266.40499, -28.93617));
});

test('counts are coloured by their logarithm, nothing is empty, off the sky is clear', () => {
    const ramp = Uint32Array.from({ length: 256 }, (_, k) => k + 1000);
    expect(countRange([0, 3, 50, 0])).toEqual([3, 50]);
    expect(countRange([0, 0])).toEqual([0, 0]);
    expect([1, 10, 100].map((count) => logShade(count, [1, 100]))).toEqual([0, 128, 255]);
    expect(logShade(5, [5, 5])).toBe(255);
    expect([...paintCells(Int32Array.of(0, 1, 2, -1), [1, 100, 0], [1, 100], ramp, 7)]).toEqual([1000, 1255, 7, 0]);
});
