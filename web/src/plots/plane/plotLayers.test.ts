import { afterEach, describe, expect, test } from 'vitest';
import { AUTOMATIC, type LayerSettings } from '../points/layerSettings';
import { openTables } from '../../model/openTables.svelte';
import type { Points } from '../points/plotPoints';
import { findBin } from '../layers/binHit';
import { defaultSettings } from '../table/defaultSettings';
import { findContours } from '../layers/densityContours';
import { errorBarPixels } from '../layers/errorBarPixels';
import { describeFit } from '../layers/fitText';
import { NO_LAYERS, describeLayers } from '../layers/layerTable';
import { barEnds, scaledError } from '../layers/errorBarEnds';
import { binnedLines } from '../layers/binStatistics';
import { fitLines } from '../layers/fittedLine';
import { loadPlotData } from '../table/plotLoader';
import type { PlotData } from '../points/plotData';
import { arrangeScene } from '../table/arrangement';
import { explainMissingLayers } from '../layers/layerTable';
import { summarizeLayers } from '../layers/layerSummary';
import { instants, MemoryTable, number, words } from '../points/memoryTable.fixture';
import { matchQuantity } from '../layers/overlayData';
import { planePoints } from '../points/plotPoints';
import { describePlot } from '../table/plotDescription';
import type { PlotSettings } from '../points/plotSettings';
import { TablePlot } from '../table/tablePlot.svelte';

const FIELDS = [
    number('x'),
    number('y', 'phot.mag;em.opt.V', 'mag'),
    number('e_x'),
    number('y_up'),
    number('sigma', 'stat.error;phot.mag;em.opt.V', 'mag'),
    words('kind'),
];
const TABLE = new MemoryTable(FIELDS, [
    [1, 2, 3, 4],
    [10.1, 11.9, 14, 16.1],
    [0.1, 0.2, 0.3, 0.4],
    [1, -2, 3, 4],
    [0.3, 0.4, 0.5, null],
    ['a', 'b', 'a', 'b'],
]);
const SOURCE = { kind: 'sync', query: 'SELECT 1' } as const;
const SIZE = { width: 600, height: 400 };

async function load(layers: Partial<LayerSettings>, changes: Partial<PlotSettings> = {}, table = TABLE) {
    const usual = defaultSettings(table.fields);
    const settings = { ...usual, kind: 'scatter' as const, ...changes, layers: { ...NO_LAYERS, ...layers } };
    return (await loadPlotData(table, settings)) as PlotData;
}
const arranged = (data: PlotData, table = TABLE) => ({ data, ...arrangeScene(data, table, SIZE, undefined) });
const axis = (column: number, minus = -1, log = false) => ({ column, minus, log, reversed: false });

describe('error bars', () => {
    test('of columns by name and by UCD, with separate upper ends', async () => {
        const { layers, columns } = await load({ xError: AUTOMATIC, yError: AUTOMATIC, yErrorUp: 3 });
        expect(columns.map(({ name }) => name)).toEqual(['x', 'y', 'e_x', 'sigma']);
        expect(barEnds(3, 2, layers.xErrors!)).toEqual([2.7, 3.3]);
        const apart = await load({ yError: 4, yErrorUp: 3 });
        expect(barEnds(11.9, 1, apart.layers.yErrors!)).toEqual([11.5, 13.9]);
        expect((await load({})).layers).toMatchObject({ xErrors: undefined, yErrors: undefined });
    });
    test('of a difference come from both columns, or from none', async () => {
        const usual = defaultSettings(FIELDS).axes;
        const { layers, columns } = await load({ yError: AUTOMATIC }, { axes: { ...usual, y: axis(0, 1) } });
        expect(layers.yErrors!.low[1]).toBeCloseTo(Math.hypot(0.2, 0.4), 12);
        expect(columns[2]!.name).toBe('error of x − y');
        const without = await load({ yError: AUTOMATIC }, { axes: { ...usual, y: axis(0, 3) } });
        expect(without.layers.yErrors).toBeUndefined();
    });
    test('on a log axis are the errors of the value; without a logarithm they have no lower end', () => {
        const errors = { low: Float64Array.of(90, 100), high: Float64Array.of(900, 900), log: true, columns: [] };
        expect(barEnds(2, 0, errors)).toEqual([1, 3]);
        expect(barEnds(2, 1, errors)[0]).toBe(-Infinity);
        expect(scaledError(2, 0, errors)).toBeCloseTo(495 / (100 * Math.LN10), 12);
    });
    test('as pixels reach as far as the error in both directions, from outside too, on reversed axes too', () => {
        const values = (...all: number[]) => ({ values: Float64Array.from(all), log: false });
        const points = planePoints(Uint32Array.of(0, 1, 2), values(3.5, 7.5, 12), values(5.5, 5.5, 8.5));
        const errors = (...all: number[]) => ({ low: Float64Array.from(all), high: Float64Array.from(all), log: false, columns: [] }); // prettier-ignore
        const mark = { opacity: 1, shades: undefined, colours: Uint32Array.of(0xff010203) };
        for (const view of [
            { u0: 0, u1: 10, v0: 0, v1: 10 },
            { u0: 0, u1: 10, v0: 10, v1: 0 },
        ]) {
            const raster = { view, width: 10, height: 10, ratio: 1 };
            const both = { x: errors(NaN, 0, 3), y: errors(2, NaN, NaN) };
            const pixels = errorBarPixels(points, raster, both, mark);
            const lit = [...pixels.keys()].filter((at) => pixels[at]! >>> 24 > 0);
            expect(lit.filter((at) => at % 10 === 3)).toHaveLength(5);
            const row = view.v0 === 0 ? 1 : 8;
            expect(lit.filter((at) => at % 10 !== 3)).toEqual([10 * row + 9]);
        }
    });
    test('change with their axis', () => {
        const plot = new TablePlot(TABLE);
        plot.settings = { ...defaultSettings(FIELDS), layers: { ...NO_LAYERS, xError: 2, yError: 4, yErrorUp: 3 } };
        plot.setAxis('y', { log: true });
        expect(plot.settings.layers).toMatchObject({ xError: 2, yError: 4, yErrorUp: 3 });
        plot.setAxis('y', { column: 0 });
        expect(plot.settings.layers).toMatchObject({ xError: 2, yError: AUTOMATIC, yErrorUp: -1 });
    });
});

describe('the summary', () => {
    test('fits the rows in view, or the chosen ones; with errors those that have one', async () => {
        const scene = arranged(await load({ fitted: true, statistic: 'mean', statisticBins: 1 }));
        const all = summarizeLayers(scene, undefined)!;
        expect(all.fit).toMatchObject({ count: 4, slope: expect.closeTo(2.01, 9) });
        expect(all.binned.reduce((sum, { rows }) => sum + rows, 0)).toBe(4);
        const near = { ...scene, view: { ...scene.view, u1: 3.5 } };
        expect(summarizeLayers(near, undefined)!.fit!.count).toBe(3);
        const chosen = summarizeLayers(near, Uint8Array.of(0, 1, 1, 1))!;
        expect([chosen.basis, chosen.fit!.count, chosen.fit!.slope]).toEqual(['chosen', 3, expect.closeTo(2.1, 9)]);
        expect(summarizeLayers(near, Uint8Array.of(0, 1, 1, 0))).toMatchObject({ unfit: true, fit: undefined });
        const weighted = summarizeLayers(arranged(await load({ fitted: true, yError: AUTOMATIC })), undefined)!;
        expect([weighted.weighted, weighted.fit!.count]).toEqual([true, 3]);
        expect(summarizeLayers(arranged(await load({})), undefined)).toBeUndefined();
    });
    test('says what it fitted, in logarithms on log axes', async () => {
        const axes = { ...defaultSettings(FIELDS).axes, x: axis(0, -1, true), y: axis(1, 2) };
        const summary = summarizeLayers(arranged(await load({ fitted: true }, { axes })), undefined)!;
        const { equation, of } = describeFit(FIELDS, summary)!;
        expect(equation).toMatch(/^\(y − e_x\) = \([\d.]+ ± [\d.]+\) \+ \([\d.]+ ± [\d.]+\) · log₁₀ x$/);
        expect(of).toMatch(/^rms [\d.]+ · 4 rows in view$/);
    });
    test('is no line over phases', async () => {
        const curve = {
            kind: 'curve',
            axes: { ...defaultSettings(FIELDS).axes, time: axis(0), flux: axis(1) },
        } as const;
        expect(summarizeLayers(arranged(await load({ fitted: true }, curve)), undefined)!.fit).toBeDefined();
        expect(
            summarizeLayers(arranged(await load({ fitted: true }, { ...curve, period: 2 })), undefined),
        ).toBeUndefined();
    });
    test('has contours where the rows of a Gaussian lie, whichever way the axes go', () => {
        const count = 20_000;
        // points of a Gaussian without random numbers: radii by probability, angles by the golden ratio
        const radius = (k: number) => Math.sqrt(-2 * Math.log(1 - (k + 0.5) / count));
        const at = (turn: (angle: number) => number, scale: number) =>
            Float64Array.from({ length: count }, (_, k) => scale * radius(k) * turn(2.399963229728653 * k));
        const values = (all: Float64Array) => ({ values: all, log: false });
        const order = Uint32Array.from({ length: count }, (_, k) => k);
        const points: Points = planePoints(order, values(at(Math.cos, 3)), values(at(Math.sin, 1)));
        const box = { left: 0, top: 0, width: 600, height: 400 };
        for (const view of [
            { u0: -12, u1: 12, v0: -4, v1: 4 },
            { u0: 12, u1: -12, v0: 4, v1: -4 },
        ]) {
            const found = findContours(points, view, box, { levels: 'enclosed', factor: 1 });
            expect(found.map(({ fraction }) => fraction)).toEqual([0.1, 0.3, 0.5, 0.7, 0.9]);
            for (const { fraction, lines } of found) {
                const wanted = Math.sqrt(-2 * Math.log(1 - fraction));
                const line = lines.reduce((one, other) => (other.length > one.length ? other : one));
                const away = line.flatMap((u, k) => (k % 2 ? [] : [Math.hypot(u / 3, line[k + 1]!)]));
                const mean = away.reduce((sum, one) => sum + one, 0) / away.length;
                expect(Math.abs(mean - wanted)).toBeLessThan(0.04 + 0.03 * wanted);
            }
            const peak = findContours(points, view, box, { levels: 'peak', factor: 1 });
            // the outermost is at a tenth of the peak, inside the one that encloses 90 %: a tenth is exact for a Gaussian
            expect(Math.max(...peak[0]!.lines.flat())).toBeCloseTo(Math.max(...found[4]!.lines.flat()), 0);
        }
    });
    test('a bin is found under the pointer', async () => {
        const scene = arranged(await load({ statistic: 'median', statisticBins: 1 }));
        const summary = summarizeLayers(scene, undefined);
        const { view, box } = scene;
        const [bin] = summary!.binned;
        const x = box.left + (((bin!.from + bin!.to) / 2 - view.u0) / (view.u1 - view.u0)) * box.width;
        const y = box.top + box.height - ((bin!.middle - view.v0) / (view.v1 - view.v0)) * box.height;
        expect(findBin(scene, summary, x + 3, y)!.bin).toBe(bin);
        expect(findBin(scene, summary, x + 30, y)).toBeUndefined();
    });
    test('becomes words and files', async () => {
        const data = await load({ fitted: true, statistic: 'mean', statisticBins: 2, connected: true, marginals: true }, { colour: 5 }); // prettier-ignore
        const scene = arranged(data);
        const summary = summarizeLayers(scene, undefined)!;
        const said = describePlot(data, FIELDS, scene.view, 0, describeLayers(data, FIELDS, summary));
        expect(said).toContain('points of each colour are connected; histograms of both axes; mean ± standard deviation of the rows in view in'); // prettier-ignore
        expect(said).toContain('fitted line y = (');
        const bins = binnedLines(FIELDS, summary)!;
        expect(bins[0]).toBe('x_from,x_to,rows,y_mean,y_minus_deviation,y_plus_deviation\r\n');
        expect(bins).toHaveLength(1 + summary.binned.length);
        const lines = fitLines(FIELDS, summary);
        expect(lines).toContain(`slope,${summary.fit!.slope},${summary.fit!.slopeError}\r\n`);
    });
});

describe('other results over a plot', () => {
    const other = new MemoryTable(
        [number('label'), number('vmag', 'phot.mag;em.opt.V'), number('X'), words('y')],
        [
            [1, 2, 3],
            [5, 25, null],
            [-7, 2, 3],
            ['', '', ''],
        ],
    );
    const overlays = [{ table: 'other', title: 'Other', axes: {} }];
    let close = () => {};
    afterEach(() => close());

    test('have their quantities by name, else by UCD; instants are no numbers', () => {
        expect(matchQuantity(FIELDS, other.fields, axis(0))).toEqual({ column: 2, minus: -1 });
        expect(matchQuantity(FIELDS, other.fields, axis(1))).toEqual({ column: 1, minus: -1 });
        expect(matchQuantity(FIELDS, other.fields, axis(1, 0))).toEqual({ column: 1, minus: 2 });
        expect(matchQuantity(FIELDS, other.fields, axis(1, 2))).toEqual({ column: -1, minus: -1 });
        expect(matchQuantity([instants('X')], other.fields, axis(0)).column).toBe(-1);
    });
    test('the ranges cover all of them; one that was closed is missing and named', async () => {
        close = openTables.add({ id: 'other', title: 'Other', source: SOURCE, table: other });
        const data = await load({ overlays });
        expect([...data.layers.overlays[0]!.points!.u]).toEqual([-7, 2]);
        const { view } = arranged(data);
        expect([view.u0 < -7, Math.max(view.v0, view.v1) > 25]).toEqual([true, true]);
        expect(describeLayers(data, FIELDS, undefined)).toEqual(['2 points of Other on top']);
        close();
        const without = await load({ overlays });
        expect(explainMissingLayers(without)).toEqual(['Other is closed: its rows are not shown']);
        expect(arranged(without).view.u0).toBeGreaterThan(0);
    });
    test('have their own columns, by name; a histogram counts them in its bins', async () => {
        close = openTables.add({ id: 'other', title: 'Other', source: SOURCE, table: other });
        const chosen = [{ ...overlays[0]!, axes: { value: { column: 'label', minus: '' } } }];
        const { histogram } = arranged(await load({ overlays: chosen }, { kind: 'histogram' }));
        expect(histogram!.others[0]!.reduce((sum, count) => sum + count, 0)).toBe(3);
        const gone = await load({ overlays: [{ ...overlays[0]!, axes: { x: { column: 'gone', minus: '' } } }] });
        expect(explainMissingLayers(gone)[0]).toMatch(/Other has no such columns/);
    });
    test('times in JD and MJD meet, folded by the same period', async () => {
        const curve = (times: number[]) =>
            new MemoryTable(
                [number('time', 'time.epoch', 'd'), number('mag', 'phot.mag')],
                [times, times.map(() => 1)],
            );
        const mjd = curve([57388, 57389]);
        close = openTables.add({ id: 'other', title: 'Other', source: SOURCE, table: curve([2457388.5, 2457390.5]) });
        const data = await load({ overlays }, { kind: 'curve' }, mjd);
        expect([...data.layers.overlays[0]!.points!.u]).toEqual([57388, 57390]);
        const folded = await load({ overlays }, { kind: 'curve', period: 4, phaseZero: 57388 }, mjd);
        expect([...folded.layers.overlays[0]!.points!.u]).toEqual([0, 0.5, 1, 1.5]);
    });
    test('lie where they are on a map, whatever its middle', async () => {
        const sky = (...ra: number[]) =>
            new MemoryTable(
                [number('ra', 'pos.eq.ra', 'deg'), number('dec', 'pos.eq.dec', 'deg')],
                [ra, ra.map(() => 0)],
            );
        close = openTables.add({ id: 'other', title: 'Other', source: SOURCE, table: sky(11, 10) });
        const data = await load({ overlays }, { kind: 'sky' }, sky(9, 10, 11));
        expect(data.layers.overlays[0]!.points!.u[0]).toBeCloseTo(data.points.u[2]!, 12);
    });
});
