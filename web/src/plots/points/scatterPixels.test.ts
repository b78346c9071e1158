import { describe, expect, test } from 'vitest';
import { countChosen, countGrid, countBins, suitableBins } from './binning';
import { kindColours, luminanceOf, packPixel, cssToPixel, makeRamp } from '../../canvas/colourRamps';
import { planePoints } from './plotPoints';
import { countChosenPixels, pixelIndexes } from './pointPixels';
import { countIn, hitPixels, rasterRatio, scatterPixels } from './scatterPixels';

const points = (us: number[], vs: number[]) =>
    planePoints(Uint32Array.from(us, (_, k) => k), { values: Float64Array.from(us), log: false }, { values: Float64Array.from(vs), log: false }); // prettier-ignore
const VIEW = { u0: 0, u1: 10, v0: 0, v1: 10 };
const BOX = { left: 0, top: 0, width: 100, height: 100 };

describe('points as pixels', () => {
    const raster = { view: VIEW, width: 10, height: 10, ratio: 0.1 };
    const one = { size: 1, opacity: 1, colours: Uint32Array.of(packPixel(1, 2, 3)), continuous: false };
    const lit = (pixels: Uint32Array) => [...pixels.keys()].filter((at) => pixels[at]! >>> 24 > 0);

    test('are where they belong, v upwards; what is outside is not drawn', () => {
        const pixels = scatterPixels(points([0.5, 9.5, -1, 10, 5], [0.5, 9.5, 5, 5, 11]), raster, one);
        expect(lit(pixels)).toEqual([9, 90]);
        expect(pixels[90]! & 0xffffff).toBe(packPixel(1, 2, 3) & 0xffffff);
    });
    test('a reversed axis turns them', () => {
        const turned = { ...raster, view: { u0: 10, u1: 0, v0: 10, v1: 0 } };
        expect(lit(scatterPixels(points([0.5], [0.5]), turned, one))).toEqual([9]);
    });
    test('more points are more opaque', () => {
        const faint = { ...one, opacity: 0.3 };
        const pixels = scatterPixels(points([0.5, 5.5, 5.5, 5.5], [0.5, 5.5, 5.5, 5.5]), raster, faint);
        expect(pixels[90]! >>> 24).toBe(77);
        expect(pixels[45]! >>> 24).toBeGreaterThan(150);
    });
    test('values that overlap show their mean, kinds the mean of their colours', () => {
        const colours = Uint32Array.from({ length: 256 }, (_, k) => packPixel(k, 0, 255 - k));
        const shades = Uint8Array.of(10, 30);
        const at = points([5.5, 5.5], [5.5, 5.5]);
        const mean = scatterPixels(at, raster, { ...one, colours, shades, continuous: true })[45]!;
        expect(mean & 255).toBe(20);
        const mixed = scatterPixels(at, raster, { ...one, colours, shades, continuous: false })[45]!;
        expect([mixed & 255, (mixed >> 16) & 255]).toEqual([20, 235]);
    });
    test('only chosen rows, as discs', () => {
        const at = points([0.5, 5.5], [0.5, 5.5]);
        const hits = countChosenPixels(at, pixelIndexes(at, raster), Uint8Array.of(0, 1), 100);
        const pixels = hitPixels(hits, raster, { ...one, least: 15 });
        expect(lit(pixels)).toContain(45);
        expect(lit(pixels)).toContain(44);
        expect(lit(pixels)).not.toContain(90);
    });
    test('very many are drawn in CSS pixels', () => {
        expect(countIn(points([1, 20], [1, 1]), { u0: 5, u1: 0, v0: 0, v1: 5 })).toBe(1);
        expect([rasterRatio(1e6, 4e5, 2), rasterRatio(1000, 4e5, 2), rasterRatio(1e6, 4e5, 0.8)]).toEqual([1, 2, 0.8]);
    });
});

describe('histograms', () => {
    test('bins are of a round width and count all values of the range', () => {
        const { start, width, counts } = countBins(
            points([0.1, 0.3, 0.3, 0.6, 0.9999, 5], [0, 0, 0, 0, 0, 0]),
            0,
            1,
            10,
        );
        expect([start, width]).toEqual([0, 0.1]);
        expect([...counts]).toEqual([0, 1, 0, 2, 0, 0, 1, 0, 0, 1, 0]);
    });
    test('chosen rows are counted separately', () => {
        const at = points([0.5, 0.5, 1.5, 7], [0, 0, 0, 0]);
        const chosen = countChosen(countBins(at, 0, 2, 2), at, Uint8Array.of(1, 0, 1, 1));
        expect([...chosen]).toEqual([1, 1, 0]);
    });
    test('one value, no value, negative values', () => {
        expect([...countBins(points([5], [0]), 5, 5, 10).counts].reduce((a, b) => a + b)).toBe(1);
        expect([...countBins(points([], []), 0, 1, 10).counts].every((count) => count === 0)).toBe(true);
        expect(countBins(points([-0.95], [0]), -1, 0, 10).counts[0]).toBe(1);
    });
    test('how many bins suit: more of more values, within bounds', () => {
        const even = (count: number) => Float64Array.from({ length: count }, (_, k) => k / count);
        expect(suitableBins(even(10), 0, 1)).toBe(5);
        expect(suitableBins(even(1000), 0, 1)).toBe(10);
        expect(suitableBins(even(1_000_000), 0, 1)).toBeGreaterThan(90);
        expect(suitableBins(new Float64Array(), 0, 1)).toBe(10);
        expect(suitableBins(new Float64Array(100), 0, 1)).toBeGreaterThan(0);
    });
});

describe('densities', () => {
    test('count every point of the view once', () => {
        const grid = countGrid(points([1, 1, 9.99, 20], [1, 1, 9.99, 5]), VIEW, BOX, 10);
        expect([grid.du, grid.dv, grid.columns]).toEqual([1, 1, 11]);
        expect(grid.counts.reduce((sum, count) => sum + count, 0)).toBe(3);
        expect(grid.counts[1 * grid.columns + 1]).toBe(2);
        expect(grid.most).toBe(2);
    });
    test('cells stay where they are when the view is moved', () => {
        const moved = countGrid(points([1.2], [1.2]), { u0: 0.7, u1: 10.7, v0: -3.3, v1: 6.7 }, BOX, 10);
        const at = moved.counts.indexOf(1);
        expect(moved.u + (at % moved.columns) * moved.du).toBeCloseTo(1, 9);
        expect(moved.v + Math.floor(at / moved.columns) * moved.dv).toBeCloseTo(1, 9);
    });
});

describe('colours', () => {
    const contrast = (one: number, other: number) => {
        const [a, b] = [luminanceOf(one) + 0.05, luminanceOf(other) + 0.05];
        return Math.max(a, b) / Math.min(a, b);
    };
    test('ramps change their lightness one way, so that they read without hues', () => {
        for (const dark of [true, false]) {
            const lights = [...makeRamp(dark)].map(luminanceOf);
            for (let k = 8; k < 256; k += 8)
                expect(dark ? lights[k]! > lights[k - 8]! : lights[k]! < lights[k - 8]!).toBe(true);
            expect(contrast(makeRamp(dark)[255]!, makeRamp(dark)[0]!)).toBeGreaterThan(7);
        }
    });
    test('the largest stands out most from the ground, the least too', () => {
        for (const [dark, ground] of [
            [true, packPixel(15, 21, 32)],
            [false, packPixel(255, 255, 255)],
        ] as const) {
            // prettier-ignore
            expect(contrast(makeRamp(dark)[255]!, ground)).toBeGreaterThan(10);
            expect(contrast(makeRamp(dark)[0]!, ground)).toBeGreaterThan(1.4);
            for (const kind of kindColours(dark)) expect(contrast(kind, ground)).toBeGreaterThan(3);
        }
    });
    test('colours as browsers compute them', () => {
        expect(cssToPixel('rgb(18, 87, 176)')).toBe(packPixel(18, 87, 176));
        expect(cssToPixel('color(srgb 1 0.5 0)')).toBe(packPixel(255, 128, 0));
    });
});
