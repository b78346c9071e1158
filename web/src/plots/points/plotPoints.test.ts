import { describe, expect, test } from 'vitest';
import { projectDirection } from '../../sky/hammerAitoff';
import { degreesOf, extentOf, foldPoints, linePoints, planePoints, skyPoints } from './plotPoints';

const all = (count: number) => Uint32Array.from({ length: count }, (_, k) => k);
const values = (...numbers: number[]) => ({ values: Float64Array.from(numbers), log: false });

describe('points of a plane', () => {
    test('rows without a finite value are counted, not drawn', () => {
        const points = planePoints(all(5), values(1, NaN, 3, Infinity, 5), values(10, 20, NaN, 40, 50));
        expect([...points.rows]).toEqual([0, 4]);
        expect([points.count, points.missing, points.notPositive]).toEqual([2, 3, 0]);
        expect(points.extent).toEqual({ u0: 1, u1: 5, v0: 10, v1: 50 });
    });
    test('follow the order of the table and its filters', () => {
        expect([...planePoints(Uint32Array.of(2, 0), values(1, 2, 3), values(4, 5, 6)).rows]).toEqual([2, 0]);
    });
    test('rows that have not come yet are left out', () => {
        expect(planePoints(all(4), values(1, 2), values(1, 2, 3)).count).toBe(2);
    });
    test('a logarithm there is of positive values alone', () => {
        const points = planePoints(all(4), { ...values(100, 0, -5, NaN), log: true }, values(1, 1, 1, 1));
        expect([...points.u]).toEqual([2]);
        expect([points.missing, points.notPositive]).toEqual([1, 2]);
    });
    test('differences of two columns', () => {
        const points = planePoints(all(2), { ...values(5, 7), minus: Float64Array.of(1, NaN) }, values(1, 2));
        expect([...points.u]).toEqual([4]);
    });
    test('nothing at all', () => {
        const points = linePoints(all(3), values(NaN, NaN, NaN));
        expect(points.count).toBe(0);
        expect(points.extent.u0).toBeNaN();
        expect(extentOf(new Float64Array())).toEqual([NaN, NaN]);
    });
});

describe('points of the sky', () => {
    const frames = { from: 'equatorial', to: 'equatorial', centre: 180, units: [1, 1] } as const;
    test('the middle is at 0, directions that are none are missing', () => {
        const points = skyPoints(all(4), Float64Array.of(180, 10, NaN, 5), Float64Array.of(0, 91, 0, 90), frames);
        expect(points.count).toBe(2);
        expect(points.missing).toBe(2);
        expect(points.u[0]).toBeCloseTo(0, 12);
        expect(points.v[1]).toBeCloseTo(1, 12);
    });
    test('the galactic centre is in the middle of a galactic map', () => {
        const at = skyPoints(all(1), Float64Array.of(266.40499), Float64Array.of(-28.93617), {
            ...frames,
            to: 'galactic',
            centre: 0,
        });
        expect(at.u[0]).toBeCloseTo(0, 6);
        expect(at.v[0]).toBeCloseTo(0, 6);
    });
    test('units of angles', () => {
        const hours = skyPoints(all(1), Float64Array.of(12), Float64Array.of(30), { ...frames, units: [15, 1] });
        expect([hours.u[0], hours.v[0]]).toEqual([expect.closeTo(0, 9), expect.closeTo(projectDirection(0, 30)[1], 9)]);
        expect(['deg', '', 'h', 'arcmin'].map(degreesOf)).toEqual([1, 1, 15, 1 / 60]);
        expect(degreesOf('rad')).toBeCloseTo(57.29577951, 8);
    });
});

describe('folding', () => {
    const points = planePoints(all(3), values(0.25, 3.5, -0.25), values(7, 8, 9));
    test('phases of two cycles', () => {
        const { u, v, rows, count, extent } = foldPoints(points, 2);
        expect(count).toBe(6);
        expect([...u]).toEqual([0.125, 0.75, 0.875, 1.125, 1.75, 1.875]);
        expect([...v]).toEqual([7, 8, 9, 7, 8, 9]);
        expect([...rows]).toEqual([0, 1, 2, 0, 1, 2]);
        expect([extent.u0, extent.u1]).toEqual([0, 2]);
    });
    test('by no period: as it was', () => {
        expect(foldPoints(points, 0)).toBe(points);
        expect(foldPoints(points, NaN)).toBe(points);
    });
});
