import { describe, expect, test } from 'vitest';
import { binValues, quantileOf } from './binnedValues';
import { orderPoints, thinByColumns } from './connectedLines';
import { contourLines } from './contourLines';
import { fitLine, lineAt, originOf } from './lineFit';
import { sumMargins } from './marginalCounts';
import { formatMeasured } from './measuredNumber';
import { enclosingLevels, smoothCounts } from './smoothCounts';

const members = (count: number) => Uint32Array.from({ length: count }, (_, k) => k);

/** A Gaussian of standard deviations 12 and 6 cells in the middle of a grid, as counts. */
const GAUSSIAN = { columns: 120, rows: 80, across: 12, down: 6, peak: 1000 };
const gaussianCounts = Float64Array.from({ length: GAUSSIAN.columns * GAUSSIAN.rows }, (_, cell) => {
    const [x, y] = [(cell % GAUSSIAN.columns) - 60, Math.floor(cell / GAUSSIAN.columns) - 40];
    return GAUSSIAN.peak * Math.exp(-0.5 * ((x / GAUSSIAN.across) ** 2 + (y / GAUSSIAN.down) ** 2));
});

describe('contours', () => {
    test.each([0.1, 0.3, 0.5, 0.7, 0.9])(
        'that enclose %d of a Gaussian are the ellipses of that probability',
        (part) => {
            const [level] = enclosingLevels(gaussianCounts, gaussianCounts, [part]);
            const lines = contourLines({ ...GAUSSIAN, values: gaussianCounts }, level!);
            expect(lines).toHaveLength(1);
            const radius = Math.sqrt(-2 * Math.log(1 - part));
            const line = lines[0]!;
            for (let k = 0; k < line.length; k += 2) {
                const away = Math.hypot((line[k]! - 60.5) / GAUSSIAN.across, (line[k + 1]! - 40.5) / GAUSSIAN.down);
                expect(Math.abs(away - radius)).toBeLessThan(0.06);
            }
            expect(line.slice(0, 2)).toEqual(line.slice(-2));
        },
    );
    test('smoothing widens a Gaussian as the variances add, and keeps the counts', () => {
        const smooth = smoothCounts({ ...GAUSSIAN, counts: gaussianCounts }, 5);
        const sum = (values: Float64Array) => values.reduce((one, other) => one + other, 0);
        expect(sum(smooth) / sum(gaussianCounts)).toBeCloseTo(1, 3);
        const variance = smooth.reduce((all, value, cell) => all + value * ((cell % 120) - 60) ** 2, 0) / sum(smooth);
        expect(Math.sqrt(variance)).toBeCloseTo(13, 1);
    });
    test('levels count only some cells, and none without counts', () => {
        expect(enclosingLevels([5, 1, 1, 1], Float64Array.of(4, 3, 2, 1), [0.5, 1], (cell) => cell > 0)).toEqual([
            2, 1,
        ]);
        expect(enclosingLevels([0, 0], new Float64Array(2), [0.5])).toEqual([]);
    });
    test('follow the border where they leave the grid, and part at saddles', () => {
        const slope = { values: Float64Array.of(0, 1, 2, 0, 1, 2), columns: 3, rows: 2 };
        const [line, ...others] = contourLines(slope, 0.5);
        expect(others).toEqual([]);
        expect(line!.slice(0, 2)).toEqual(line!.slice(-2));
        const inside = line!.flatMap((x, k) => (k % 2 === 0 && x < 3 && line![k + 1]! > 0 && line![k + 1]! < 2 ? [x] : [])); // prettier-ignore
        expect(inside).toEqual([1, 1]);
        const saddle = { values: Float64Array.of(1, 0, 0, 1), columns: 2, rows: 2 };
        // a line around each of the high corners
        for (const level of [0.25, 0.75]) {
            const sides = contourLines(saddle, level).map((ring) => ring.every((_, k) => k % 2 || ring[k]! + ring[k + 1]! <= 2)); // prettier-ignore
            expect(sides.toSorted()).toEqual([false, true]);
        }
    });
});

describe('a fitted line', () => {
    const x = Float64Array.of(1, 2, 3, 4);
    test('through points of a line has no errors', () => {
        const fit = fitLine({ x, y: x.map((value) => 3 - 2 * value), members: members(4) })!;
        expect([fit.intercept, fit.slope, fit.rms]).toEqual([3, -2, 0]);
        expect(fit.chiSquare).toBeUndefined();
        expect(lineAt(fit, 10)).toEqual({ y: -17, error: 0 });
    });
    test('needs three rows with different x, and leaves out rows without an error', () => {
        expect(fitLine({ x, y: x, members: members(2) })).toBeUndefined();
        expect(fitLine({ x: x.map(() => 57388.1), y: x, members: members(4) })).toBeUndefined();
        const errors = Float64Array.of(1, 1, NaN, 0);
        expect(fitLine({ x, y: x, members: members(4), errors })).toBeUndefined();
    });
    test('over dates starts from a round date', () => {
        const dates = x.map((value) => 57388 + value);
        const fit = fitLine({ x: dates, y: Float64Array.of(1, 2.1, 2.9, 4), members: members(4) })!;
        expect(originOf(fit)).toBe(57390.5);
        expect(lineAt(fit, fit.pivot).error).toBeLessThan(lineAt(fit, 57388).error);
        expect(originOf(fitLine({ x, y: x, members: members(4) })!)).toBe(0);
    });
});

describe('values in bins', () => {
    const series = {
        x: Float64Array.of(0.5, 0.1, 1.5, 2.5, 9),
        y: Float64Array.of(1, 3, 7, 5, 0),
        members: members(5),
    };
    const bins = { start: 0, width: 1, count: 4 };
    test('are means with standard deviations; a single row has none, empty bins are left out', () => {
        const found = binValues(series, bins, 'mean');
        expect(found.map(({ from, to, rows, middle }) => [from, to, rows, middle])).toEqual([[0, 1, 2, 2], [1, 2, 1, 7], [2, 3, 1, 5]]); // prettier-ignore
        expect(found[0]!.high - 2).toBeCloseTo(Math.SQRT2, 12);
        expect(found[1]!.low).toBeNaN();
    });
    test('or medians', () => {
        expect(binValues(series, bins, 'median')[0]).toMatchObject({ middle: 2, low: 1 + 2 * 0.158655253931457 });
        expect(quantileOf(Float64Array.of(1, 2, 4), 0.75)).toBe(3);
    });
});

describe('connected points', () => {
    test('are ordered in each group, those without a key are left out', () => {
        const lines = orderPoints(Float64Array.of(3, 1, NaN, 2, 0), Uint8Array.of(0, 0, 0, 1, 0));
        expect(lines.map((line) => [...line])).toEqual([[4, 1, 0], [3]]);
    });
    test('keep the extremes of each column, and the neighbours of the view', () => {
        const u = Float64Array.of(-5, -1, 0.1, 0.2, 0.3, 0.4, 0.5, 1.5, 3, 8);
        const v = Float64Array.of(0, 1, 5, 9, 6, 1, 4, 2, 3, 0);
        const [line] = thinByColumns({ u, v, count: 10 }, undefined, [0, 2], 2);
        expect([...line!]).toEqual([0, 1, 2, 3, 5, 6, 7, 8, 9]);
    });
});

test('margins sum the pixels; bins of different width are comparable', () => {
    const hits = Float32Array.of(1, 0, 2, 0, 4, 0);
    const { across, down } = sumMargins(hits, { width: 3, height: 2 }, { across: 2, down: 2 });
    expect([...across]).toEqual([2.5, 2]);
    expect([...down]).toEqual([3, 4]);
});

test.each([
    [2.784731, 0.000418, '2.78473 ± 0.00042'],
    [-4.2612, 0.0714, '−4.261 ± 0.071'],
    [1234.5, 99.6, '1230 ± 100'],
    [0.5, 0.0996, '0.50 ± 0.10'],
    [0.00038507, 6.6e-7, '(3.8507 ± 0.0066)×10⁻⁴'],
    [12_345_678, 1200, '(1.23457 ± 0.00012)×10⁷'],
    [0.001, 5.2, '0.0 ± 5.2'],
    [3, 0, '3 ± 0'],
])('%d ± %d has two digits of its error', (value, error, written) => {
    expect(formatMeasured(value, error)).toBe(written);
});
