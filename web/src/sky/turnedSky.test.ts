import { describe, expect, test } from 'vitest';
import { cellAt, cellOfVector } from './healpixCells';
import { toVector } from './directions';
import { changeFrame, dragView, TurnedSky, wholeSkyDegrees, zoomView, type SkyView } from './turnedSky';

const VIEW: SkyView = { frame: 'equatorial', centre: [56.75, 24.12], degrees: 0.5, width: 800, height: 400 };

describe('a turned sky', () => {
    test.each(['equatorial', 'galactic'] as const)('positions come back as directions: %s', (frame) => {
        const sky = new TurnedSky(changeFrame(VIEW, frame));
        for (const [ra, dec] of [
            [56.75, 24.12],
            [60, 30],
            [359.9, -5],
            [10, 89],
        ] as const) {
            const [x, y] = sky.positionOf(ra, dec);
            expect(sky.directionAt(x, y)).toEqual([expect.closeTo(ra, 5), expect.closeTo(dec, 5)]);
        }
    });

    test('the middle is in the middle, north is up and east to the left, a degree is 1 / degrees pixels', () => {
        const sky = new TurnedSky(VIEW);
        expect(sky.positionOf(56.75, 24.12)).toEqual([expect.closeTo(400), expect.closeTo(200), true]);
        expect(200 - sky.positionOf(56.75, 25.12)[1]).toBeCloseTo(2, 3);
        expect(sky.positionOf(57.75, 24.12)[0]).toBeLessThan(400);
        expect(sky.positionOf(236.75, -24.12)[2]).toBe(false);
        expect(sky.directionAt(0, 0)).toBeUndefined();
    });

    test('the whole sky fits, zooming keeps the position under the pointer, and ends at the whole sky', () => {
        const sky = new TurnedSky({ ...VIEW, degrees: wholeSkyDegrees(800, 400) });
        expect(sky.positionOf(56.75 + 179.999, -24.12)[0]).toBeGreaterThan(0);
        const near: SkyView = { ...VIEW, degrees: 0.01 };
        const before = new TurnedSky(near).directionAt(600, 100)!;
        const after = new TurnedSky(zoomView(near, 0.5, 600, 100)).directionAt(600, 100)!;
        expect(after).toEqual([expect.closeTo(before[0], 2), expect.closeTo(before[1], 2)]);
        expect(zoomView(VIEW, 1e6, 1, 1).degrees).toBe(wholeSkyDegrees(800, 400));
    });

    test('a drag to the right turns the sky to larger longitudes', () => {
        expect(dragView(VIEW, 10, 0).centre[0]).toBeGreaterThan(56.75);
        expect(dragView(VIEW, 0, 1e6).centre[1]).toBe(90);
    });
});

test('cells of vectors are the cells of directions', () => {
    for (const [ra, dec] of [
        [0, 0],
        [45, 41.9],
        [123.4, -67],
        [359.999, 89.9],
        [200, -89.99],
    ] as const)
        // prettier-ignore
        expect(cellOfVector(9, ...toVector(ra, dec))).toBe(cellAt(9, ra, dec));
});
