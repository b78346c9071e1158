import { describe, expect, test } from 'vitest';
import { DEGREE, normalizeAngle, toDirection, toVector, type Direction } from './directions';
import { frameConversion, icrsToGalactic, galacticToIcrs, frameRotation } from './skyFrames';
import { projectDirection, projectTurned, unprojectPosition } from './hammerAitoff';

function separationOf(one: Direction, other: Direction): number {
    const [a, b] = [toVector(...one), toVector(...other)];
    return (2 * Math.asin(Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) / 2)) / DEGREE;
}

/** [ra, dec, l, b] in degrees, of astropy 7. */
const BOTH_FRAMES = [
    [10.3, 20.1, 119.6603105, -42.7067033],
    [45, 41.9, 147.1157425, -14.8558272],
    [200.5, -75.2, 304.9251233, -12.4466555],
    [359.99, 0.1, 96.3987972, -60.0928334],
    [83.6, 22.01, 184.5447714, -5.812671],
    [266.4, -28.9, 0.0286037, 0.0225771],
    [120, 89.9, 123.0393241, 27.1576832],
] as const;

const DIRECTIONS = [0.5, 33, 89, 91, 179.5, 180.5, 250, 359.9].flatMap((longitude) =>
    [-89.9, -60, -5, 0, 0.1, 41.8, 75, 89.99].map((latitude) => [longitude, latitude] as const),
);

describe('directions', () => {
    test('go to vectors and back', () => {
        for (const [longitude, latitude] of DIRECTIONS) {
            const [l, b] = toDirection(toVector(longitude, latitude));
            expect(l).toBeCloseTo(longitude, 9);
            expect(b).toBeCloseTo(latitude, 9);
        }
    });
    test('angles are brought into one turn', () => {
        expect([-30, 0, 360, 725, -1e-20].map(normalizeAngle)).toEqual([330, 0, 0, 5, 0]);
    });
});

describe('frames', () => {
    test('agree with astropy, both ways', () => {
        for (const [ra, dec, l, b] of BOTH_FRAMES) {
            // 1e-5 degrees: what is published has that many digits of the pole
            expect(separationOf(icrsToGalactic(ra, dec), [l, b])).toBeLessThan(1e-5);
            expect(separationOf(galacticToIcrs(l, b), [ra, dec])).toBeLessThan(1e-5);
        }
    });
    test('one and the same frame leaves directions as they are', () => {
        expect(frameConversion('galactic', 'galactic')(12, 34)).toEqual([12, 34]);
    });
});

describe('the Hammer-Aitoff projection', () => {
    test('has the middle at 0 and longitudes growing to the left', () => {
        expect(projectDirection(180, 0, 180)).toEqual([-0, 0]);
        expect(projectDirection(190, 0, 180)[0]).toBeLessThan(0);
        expect(projectDirection(170, 0, 180)[0]).toBeGreaterThan(0);
        expect(projectDirection(0, 90)[1]).toBeCloseTo(1, 12);
        expect(projectDirection(179.999999, 0)[0]).toBeCloseTo(-2, 6);
    });
    test('of known values', () => {
        // 2 cos b sin(l/2) / sqrt(1 + cos b cos(l/2)), by hand for l = 90, b = 45
        const [x, y] = projectDirection(90, 45);
        expect(x).toBeCloseTo(-(2 * Math.SQRT1_2 * Math.SQRT1_2) / Math.sqrt(1.5), 12);
        expect(y).toBeCloseTo(Math.SQRT1_2 / Math.sqrt(1.5), 12);
    });
    test('is undone by its inverse', () => {
        for (const centre of [0, 180, 266]) {
            for (const [longitude, latitude] of DIRECTIONS) {
                const back = unprojectPosition(...projectDirection(longitude, latitude, centre), centre);
                expect(back).toBeDefined();
                expect(separationOf(back!, [longitude, latitude])).toBeLessThan(1e-5);
            }
        }
    });
    test('has nothing outside of its ellipse', () => {
        expect(unprojectPosition(1.9, 0.9)).toBeUndefined();
        expect(unprojectPosition(2.01, 0)).toBeUndefined();
        expect(unprojectPosition(NaN, 0)).toBeUndefined();
    });
    test('keeps areas', () => {
        const area = (longitude: number, latitude: number) => {
            const [a, b, c] = [[0, 0], [0.01, 0], [0, 0.01]].map(([l, b]) => projectDirection(longitude + l!, latitude + b!)); // prettier-ignore
            const cross = (b![0] - a![0]) * (c![1] - a![1]) - (b![1] - a![1]) * (c![0] - a![0]);
            return Math.abs(cross) / Math.cos((latitude * Math.PI) / 180);
        };
        for (const [longitude, latitude] of [
            [0, 0],
            [100, 50],
            [-150, -70],
        ] as const)
            // prettier-ignore
            expect(area(longitude, latitude) / area(1, 1)).toBeCloseTo(1, 2);
    });
    test('without angles gives the same', () => {
        const position = new Float64Array(2);
        for (const to of ['equatorial', 'galactic'] as const) {
            const turned = frameRotation('equatorial', to, 100);
            for (const at of DIRECTIONS) {
                projectTurned(turned, ...toVector(...at), position);
                const [x, y] = projectDirection(...frameConversion('equatorial', to)(...at), 100);
                expect(position[0]).toBeCloseTo(x, 6);
                expect(position[1]).toBeCloseTo(y, 9);
            }
        }
        projectTurned(frameRotation('equatorial', 'equatorial', 0), 0, 0, 1, position);
        expect([...position]).toEqual([-0, 1]);
    });
});
