import { describe, expect, it } from 'vitest';
import type { Quantity } from './quantities';
import { countPanel } from './panelCounts';
import { estimateRows, sampleLimit, samplePercent, sampleQuery } from './rowSample';
import { binCells, gridCells, OUTSIDE, SampledRows, suitableRange } from './sampledRows';
import type { TableExplorer } from './tableExplorer.svelte';
import { NO_FILTERS, withRange } from './tableFilters';

const quantity = (name: string): Quantity => ({ name, adql: name, unit: '', isMagnitude: false, isTime: false });
const [X, Y] = [quantity('x'), quantity('y')];

function sample(percent = 10): SampledRows {
    const x = Float64Array.of(0, 1, 2, 3, NaN);
    const y = Float64Array.of(5, 5, 6, 6, 6);
    const position = [Float64Array.of(0, 0, 180, 359.9, 10), Float64Array.of(0, 0.5, 0, 0, 90)] as const;
    return new SampledRows(['x', 'y'], [x, y], position, percent);
}

describe('rows that meet filters', () => {
    it('are those within ranges, ends included; NULL meets none', () => {
        const rows = sample();
        const some = withRange(NO_FILTERS, X, { min: 1, max: 3 });
        rows.applyFilters(some);
        expect(rows.countKept()).toBe(3);
        rows.applyFilters(withRange(some, Y, { min: 6, max: Infinity }));
        expect(rows.countKept()).toBe(2);
        rows.applyFilters(withRange(NO_FILTERS, Y, { min: 6, max: Infinity }));
        expect(rows.countKept()).toBe(3);
        rows.applyFilters(NO_FILTERS);
        expect(rows.countKept()).toBe(5);
    });
    it('are those in a circle across longitude 0, and at the pole', () => {
        const rows = sample();
        rows.applyFilters({ ...NO_FILTERS, circle: { ra: 0, dec: 0, radius: 0.2 } });
        expect(rows.countKept()).toBe(2);
        rows.applyFilters({ ...NO_FILTERS, circle: { ra: 200, dec: 89.9, radius: 0.2 } });
        expect(rows.countKept()).toBe(1);
    });
    it('a panel also shows those outside its own filter', () => {
        const rows = sample();
        rows.applyFilters(withRange(withRange(NO_FILTERS, X, { min: 1, max: 2 }), Y, { min: 6, max: 6 }));
        const bins = binCells(rows.valuesOf('x')!, { min: 0, max: 4 }, 4);
        expect([...bins]).toEqual([0, 1, 2, 3, OUTSIDE]);
        const { kept, around } = rows.countCells(bins, 4, ['x']);
        expect([[...kept], [...around]]).toEqual([
            [0, 0, 1, 0],
            [0, 0, 1, 1],
        ]);
        expect([...rows.countCells(bins, 4, ['sky']).around]).toEqual([0, 0, 1, 0]);
    });
});

describe('cells', () => {
    it('of a grid go by rows from the least values', () => {
        const positions = [Float64Array.of(0, 3, 1, 9), Float64Array.of(0, 0, 2, 0)] as const;
        expect([
            ...gridCells(
                positions,
                [
                    { min: 0, max: 3 },
                    { min: 0, max: 2 },
                ],
                [3, 2],
            ),
        ]).toEqual([0, 2, 4, OUTSIDE]);
    });
    it('have a range that outliers do not stretch', () => {
        const values = Float64Array.from({ length: 10_000 }, (_, k) => (k < 3 ? 1e9 : k / 10_000));
        const { min, max } = suitableRange(values);
        expect([min > -0.1, max > 0.99, max < 1.1]).toEqual([true, true, true]);
        expect(suitableRange(Float64Array.of(NaN))).toEqual({ min: 0, max: 1 });
        expect(suitableRange(Float64Array.of(7, 7)).min).toBeLessThan(7);
    });
});

describe('samples', () => {
    it('have a size, and stay below their row limit by five standard deviations', () => {
        expect(samplePercent(100, 200)).toBe(100);
        for (const rows of [1e6, 1e9, 5e10])
            for (const size of [20_000, 1_000_000]) {
                const percent = samplePercent(rows, size);
                const expected = (rows * percent) / 100;
                if (percent < 100) expect(expected / size).toBeCloseTo(1, 2);
                expect(expected + 5 * Math.sqrt(expected)).toBeLessThan(sampleLimit(size));
            }
    });
    it('are asked with the position and the quantities', () => {
        const table = { table: 't', position: ['ra', 'dec'] as const };
        const some = withRange(NO_FILTERS, X, { min: 1, max: 2 });
        expect(sampleQuery(table, [X, Y], some, 0.00002)).toBe(
            'SELECT ra AS q0, dec AS q1, x AS q2, y AS q3\nFROM t AS t TABLESAMPLE (0.00002)\nWHERE x BETWEEN 1 AND 2',
        );
        expect(sampleQuery({ ...table, position: undefined }, [X], NO_FILTERS, 100)).toBe('SELECT x AS q0\nFROM t');
    });
    it('are scaled, with the error of a count', () => {
        expect(estimateRows(400, 4)).toEqual({ rows: 10_000, error: expect.closeTo(489.9, 1) });
        expect(estimateRows(400, 100)).toEqual({ rows: 400, error: 0 });
    });
    it('of the rows that remain replace theirs in the coarser one', () => {
        const filters = withRange(NO_FILTERS, X, { min: 1, max: 2 });
        const [whole, finer] = [sample(10), new SampledRows(['x', 'y'], [Float64Array.of(1, 1, 1, 2), Float64Array.of(0, 0, 0, 0)], undefined, 50)]; // prettier-ignore
        for (const rows of [whole, finer]) rows.applyFilters(filters);
        const explorer = { sample: whole, usedFiner: finer } as unknown as TableExplorer;
        const cells = (rows: SampledRows) => binCells(rows.valuesOf('x')!, { min: 0, max: 4 }, 4);
        const { kept, around } = countPanel(explorer, 4, ['x'], cells);
        expect([[...kept], [...around]]).toEqual([
            [0, 6, 2, 0],
            [10, 6, 2, 10],
        ]);
    });
});
