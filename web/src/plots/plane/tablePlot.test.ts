import { describe, expect, test, vi } from 'vitest';
import { describeBox, type Drawn } from '../table/boxConditions';
import type { PlanePosition } from '../../canvas/plotView';
import { loadPlotData } from '../table/plotLoader';
import type { PlotData } from '../points/plotData';
import { findErrorColumn } from '../points/errorColumns';
import { axisStyles } from '../points/axisStyles';
import { arrangeScene } from '../table/arrangement';
import { defaultSettings } from '../table/defaultSettings';
import { describePlot, describeProblem, describeStatus } from '../table/plotDescription';
import { csvLines } from './plotExport';
import { padRange, plotBox, skyView, viewOfExtent } from '../points/plotLayout';
import { TablePlot } from '../table/tablePlot.svelte';
import { findRowName } from '../points/rowName';
import { quantityAdql, isReversed, quantityLabel, type PlotSettings } from '../points/plotSettings';
import { numberCodes } from '../points/pointShades';
import { orderFor } from '../points/skyCellCounts';
import { instants, MemoryTable, number, words } from '../points/memoryTable.fixture';

const GAIA = [
    number('source_id', 'meta.id;meta.main'),
    number('ra', 'pos.eq.ra;meta.main', 'deg'),
    number('dec', 'pos.eq.dec;meta.main', 'deg'),
    number('g', 'phot.mag;em.opt', 'mag'),
    number('bp', 'phot.mag;em.opt.B', 'mag'),
    number('rp', 'phot.mag;em.opt.R', 'mag'),
    number('g_error', 'stat.error;phot.mag;em.opt', 'mag'),
    number('ref_epoch', 'time.epoch', 'yr'),
];
const STARS = new MemoryTable(GAIA, [
    [11, 12, 13, 14],
    [10, 11, 350, null],
    [20, 21, -60, 5],
    [15, 16, 17, 18],
    [15.5, 16.5, 18, null],
    [14, 15, 15.5, 17],
    [0.1, 0.2, null, 0.1],
    [2016, 2016, 2016, 2016],
]);
const CURVE = new MemoryTable(
    [
        instants('obs_time', 'time.epoch'),
        number('mag', 'phot.mag', 'mag'),
        number('e_mag'),
        words('band', 'instr.bandpass'),
    ],
    [
        [57388, 57389.5, 57391, 57392],
        [10, 11, 12, null],
        [0.1, 0.2, 0.1, 0.1],
        ['G', 'BP', 'G', 'RP'],
    ],
);
const SIZE = { width: 600, height: 400 };

const loaded = async (table: MemoryTable, changes: Partial<PlotSettings> = {}) =>
    (await loadPlotData(table, { ...defaultSettings(table.fields), ...changes })) as PlotData;

describe('what is plotted at first', () => {
    test('positions give a map; of magnitudes there is a colour-magnitude diagram', () => {
        const settings = defaultSettings(GAIA);
        expect(settings.kind).toBe('sky');
        expect([settings.axes.longitude.column, settings.axes.latitude.column]).toEqual([1, 2]);
        expect(settings.axes.x).toMatchObject({ column: 4, minus: 5 });
        expect(settings.axes.y).toMatchObject({ column: 3, minus: -1 });
        expect(isReversed(GAIA, settings.axes.y)).toBe(true);
        expect(isReversed(GAIA, settings.axes.x)).toBe(false);
    });
    test('times and magnitudes give a light curve with its errors and bands', () => {
        const settings = defaultSettings(CURVE.fields);
        expect(settings).toMatchObject({ kind: 'curve', error: 2, band: 3, calendar: true });
        expect([settings.axes.time.column, settings.axes.flux.column]).toEqual([0, 1]);
    });
    test('two numbers give a scatter plot, one a histogram, none nothing', () => {
        expect(defaultSettings([number('a'), number('b')]).kind).toBe('scatter');
        expect(defaultSettings([words('name'), number('b')])).toMatchObject({
            kind: 'histogram',
            axes: { value: { column: 1 } },
        });
        expect(defaultSettings([words('name')]).axes.x.column).toBe(-1);
    });
    test('galactic columns give a galactic map; names help where UCDs are missing', () => {
        const galactic = defaultSettings([number('l', 'pos.galactic.lon'), number('b', 'pos.galactic.lat')]);
        expect(galactic).toMatchObject({ kind: 'sky', frame: 'galactic' });
        expect(defaultSettings([number('RAJ2000'), number('DEJ2000')]).kind).toBe('sky');
    });
    test('errors by name and by UCD', () => {
        expect(findErrorColumn(GAIA, 3)).toBe(6);
        expect(findErrorColumn([number('x', 'phot.flux'), number('s', 'stat.error;phot.flux')], 0)).toBe(1);
        expect(findErrorColumn(GAIA, 1)).toBe(-1);
    });
});

describe('names of axes', () => {
    test('with units, in words and in ADQL', () => {
        expect(quantityLabel(GAIA, { column: 4, minus: 5 })).toBe('bp − rp [mag]');
        expect(quantityLabel(GAIA, { column: 1, minus: 3 })).toBe('ra − g');
        expect(quantityLabel(CURVE.fields, { column: 0, minus: -1 })).toBe('obs_time [MJD]');
        expect(quantityAdql([number('a b'), number('c')], { column: 0, minus: 1 })).toBe('"a b" - c');
    });
    test('units as they are written by hand', () => {});
    test('of times as dates or MJD, folded as phases', async () => {
        const data = await loaded(CURVE);
        expect(axisStyles({ data, fields: CURVE.fields })[0]).toEqual({ label: 'obs_time', log: false, epoch: 0 });
        const plain = await loaded(CURVE, { calendar: false });
        expect(axisStyles({ data: plain, fields: CURVE.fields })[0].label).toBe('obs_time [MJD]');
        const folded = await loaded(CURVE, { period: 1.5 });
        expect(axisStyles({ data: folded, fields: CURVE.fields })[0].label).toBe('Phase (period 1.5 d)');
        const shifted = await loaded(CURVE, { period: 1.5, phaseZero: 57388.5 });
        expect(axisStyles({ data: shifted, fields: CURVE.fields })[0].label).toBe(
            'Phase (period 1.5 d, 0 at MJD 57388.5)',
        );
        expect(shifted.points.u[0]).toBeCloseTo(1 - 0.5 / 1.5, 9);
        expect(folded.points.count).toBe(6);
    });
});

describe('what is drawn', () => {
    test('points of the rows shown, with what was plotted of them', async () => {
        const data = await loaded(STARS, { kind: 'scatter' });
        expect([...data.points.rows]).toEqual([0, 1, 2]);
        expect(data.points.u[0]).toBeCloseTo(1.5, 12);
        expect(data.points.missing).toBe(1);
        expect(data.columns.map(({ name, value }) => [name, value(1)])).toEqual([['bp − rp', 1.5], ['g', 16]]); // prettier-ignore
    });
    test('colours by numbers leave out rows without, by few kinds name them', async () => {
        const byError = await loaded(STARS, { kind: 'scatter', colour: 1 });
        expect(byError.shades).toMatchObject({ type: 'kinds' });
        const curve = await loaded(CURVE);
        expect(curve.shades).toMatchObject({ type: 'kinds', names: ['G', 'BP'], others: false });
        expect([...curve.shades!.points]).toEqual([0, 1, 0]);
        expect(numberCodes(Float64Array.of(1, 2.5))).toBeUndefined();
        expect(numberCodes(Float64Array.from({ length: 9 }, (_, k) => k))).toBeUndefined();
        expect(numberCodes(Float64Array.of(1, NaN, 1))!.names).toEqual(['1', '']);
    });
    test('colours of many values use the ramp, rows without a value are not drawn', async () => {
        const fields = [number('x'), number('y'), number('z')];
        const count = [...Array(50).keys()];
        const table = new MemoryTable(fields, [count, count, count.map((k) => (k === 7 ? null : k + 0.5))]);
        const { shades, points } = await loaded(table, { colour: 2 });
        expect(points.count).toBe(49);
        expect(shades).toMatchObject({ type: 'values', range: [0.5, 49.5] });
        expect([shades!.points[0], shades!.points[48]]).toEqual([0, 255]);
    });
    test('a map is turned to its points if they are near each other', async () => {
        const near = new MemoryTable(GAIA.slice(1, 3), [[359, 1, 3], [20, 21, 22]]); // prettier-ignore
        const data = await loaded(near);
        expect(data.centre).toBe(1);
        const view = skyView(data.points.extent, plotBox(SIZE, true, false));
        expect(view.u1 - view.u0).toBeLessThan(0.5);
        expect((await loaded(STARS)).points.count).toBe(3);
        const all = new MemoryTable(GAIA.slice(1, 3), [[0, 90, 180, 270], [0, 40, -50, 10]]); // prettier-ignore
        expect((await loaded(all)).centre).toBe(180);
        expect(data.cells!.countCells(0).reduce((sum, value) => sum + value, 0)).toBe(3);
    });
    test('no column chosen: not drawn', async () => {
        expect(await loadPlotData(STARS, defaultSettings([words('a')]))).toBe('columns');
    });
    test('cells of a map become finer as one looks closer', () => {
        expect(orderFor({ u0: -2, u1: 2, v0: -1, v1: 1 }, 800, 5)).toBe(5);
        expect(orderFor({ u0: 0, u1: 1e-6, v0: 0, v1: 1 }, 800, 5)).toBe(9);
    });
});

describe('what is seen of it', () => {
    test('all points with some room; reversed axes turned', async () => {
        const data = await loaded(STARS, { kind: 'scatter' });
        const { view } = arrangeScene(data, STARS, SIZE, undefined);
        expect(view.v0).toBeGreaterThan(17);
        expect(view.v1).toBeLessThan(15);
        expect(view.u0).toBeLessThan(1.5);
    });
    test('constant columns, single points and no points have a range', () => {
        expect(padRange(5, 5)).toEqual([4.75, 5.25]);
        expect(padRange(0, 0)).toEqual([-0.5, 0.5]);
        expect(padRange(NaN, NaN)).toEqual([0, 1]);
        expect(viewOfExtent({ u0: NaN, u1: NaN, v0: 3, v1: 3 }, { u: true, v: false })).toMatchObject({ u0: 1, u1: 0 });
    });
    test('a histogram is as high as its highest bin, from below 1 on a log axis', async () => {
        const plain = arrangeScene(await loaded(STARS, { kind: 'histogram' }), STARS, SIZE, undefined);
        expect(plain.view.v0).toBe(0);
        expect(plain.view.v1).toBeGreaterThanOrEqual(1);
        const log = arrangeScene(await loaded(STARS, { kind: 'histogram', logCounts: true }), STARS, SIZE, undefined);
        expect(log.view.v0).toBeLessThan(0);
    });
});

describe('in words', () => {
    test('what is plotted, ranges, number of points', async () => {
        const data = await loaded(STARS, { kind: 'scatter' });
        const said = describePlot(data, GAIA, { u0: 1, u1: 3, v0: 18, v1: 14 }, 2);
        expect(said).toBe(
            'Scatter plot of g [mag] against bp − rp [mag]; bp − rp [mag] from 1 to 3; g [mag] from 14 to 18; 3 points; 2 rows chosen.',
        );
        expect(describeStatus(data, STARS)).toBe('3 points of 4 rows · 1 without a value');
    });
    test('why there is nothing to see', async () => {
        const waiting = { fields: GAIA, shown: 0, state: { phase: 'loading' } } as const;
        expect(describeProblem(undefined, waiting)).toMatch(/Waiting/);
        expect(describeProblem('columns', STARS)).toMatch(/Choose a column/);
        expect(describeProblem('columns', STARS, 'sky')).toMatch(/no known positions/);
        expect(describeProblem('columns', new MemoryTable([words('a')], [['x']]))).toMatch(/no column of numbers/);
        const nothing = new MemoryTable([number('a'), number('b')], [[null, NaN], [1, 2]]); // prettier-ignore
        expect(describeProblem(await loaded(nothing), nothing)).toMatch(/None of the rows/);
        const negative = new MemoryTable([number('a')], [[-1, 0]]);
        const axes = defaultSettings(negative.fields).axes;
        const log = await loaded(negative, { axes: { ...axes, value: { ...axes.value, log: true } } });
        expect(describeProblem(log, negative)).toMatch(/above 0/);
        const empty = new MemoryTable([number('a')], [[]]);
        expect(describeProblem(await loaded(empty), empty)).toMatch(/no rows/);
        expect(describeProblem(await loaded(STARS), STARS)).toBe('');
    });
    test('the name of a row', async () => {
        expect(await findRowName(STARS, 2)).toBe('13');
        expect(await findRowName(CURVE, 2)).toBe('');
        expect(await findRowName(STARS, 99)).toBe('');
    });
});

describe('boxes as conditions', () => {
    const settings = defaultSettings(GAIA);
    const rows = new Uint8Array(4);
    const drawn = (one: PlanePosition, other: PlanePosition): Drawn => ({
        tool: 'rectangle',
        positions: [one, other],
        pixel: 0.01,
    });
    test('of a query, whichever way the axes go', () => {
        const box = describeBox({ settings: { ...settings, kind: 'scatter' }, centre: 180 }, GAIA, drawn([2, 18], [1, 14.5]), rows)!; // prettier-ignore
        expect(box.condition).toBe('bp - rp BETWEEN 1 AND 2 AND g BETWEEN 14.5 AND 18');
        expect(box.filters).toEqual([]);
    });
    test('of the table, on log axes too', () => {
        const axes = { ...settings.axes, value: { ...settings.axes.value, column: 3, log: true } };
        const box = describeBox({ settings: { ...settings, axes, kind: 'histogram' }, centre: 180 }, GAIA, drawn([0, -1], [1, 1]), rows)!; // prettier-ignore
        expect(box.filters).toEqual([{ column: 3, min: 1, max: 10 }]);
        expect(box.condition).toBe('g BETWEEN 1 AND 10');
    });
    test('none of phases; no ADQL of instants', () => {
        const curve = defaultSettings(CURVE.fields);
        expect(describeBox({ settings: curve, centre: 180 }, CURVE.fields, drawn([0, 0], [1, 1]), rows)).toMatchObject({ condition: '' }); // prettier-ignore
        expect(describeBox({ settings: { ...curve, period: 2 }, centre: 180 }, CURVE.fields, drawn([0, 0], [1, 1]), rows)).toBeUndefined(); // prettier-ignore
    });
    test('an area of the sky is a polygon of great circles, across RA 0 and in the frame of the columns', () => {
        const around = (centre: number, half: number, fields = GAIA, frame = settings.frame) =>
            describeBox({ settings: { ...settings, frame }, centre }, fields, { ...drawn([-half, -half], [half, half]), pixel: 1e-4 }, rows); // prettier-ignore
        const box = around(0, 0.05)!;
        const vertices = [...box.condition.matchAll(/-?[\d.]+(?=[,)])/g)].map(([found]) => Number(found));
        expect(box.condition).toMatch(/^CONTAINS\(POINT\(ra, dec\), POLYGON\(/);
        expect(Math.min(...vertices.filter((_, k) => k % 2 === 0))).toBeLessThan(5);
        expect(Math.max(...vertices.filter((_, k) => k % 2 === 0))).toBeGreaterThan(355);
        expect(around(180, 3)).toBeUndefined();
        const degrees = [number('l', 'pos.galactic.lon', 'deg'), number('b', 'pos.galactic.lat', 'deg')];
        const galactic = defaultSettings(degrees);
        const bow: PlanePosition[] = [[-0.1, -0.1], [0.1, 0.1], [0.1, -0.1], [-0.1, 0.1]]; // prettier-ignore
        const lasso = (positions: PlanePosition[]) =>
            describeBox({ settings: galactic, centre: 0 }, degrees, { tool: 'lasso', positions, pixel: 1e-3 }, rows);
        expect(lasso(bow)).toBeUndefined();
        expect(lasso([[0, 0], [0.1, 0], [0, 0.1]])!.condition).toBe('CONTAINS(POINT(l, b), POLYGON(0, 0, 351.895, 0, 0, 8.11)) = 1'); // prettier-ignore
    });
});

describe('files', () => {
    const lines = async (
        table: MemoryTable,
        changes: Partial<PlotSettings>,
        view?: Parameters<typeof arrangeScene>[3],
    ) => {
        const data = await loaded(table, changes);
        const scene = { data, ...arrangeScene(data, table, SIZE, view) };
        return csvLines(scene, undefined).join('').trimEnd().split('\r\n');
    };
    test('points in view with their values', async () => {
        expect(await lines(STARS, { kind: 'scatter' })).toEqual(['row,bp − rp,g', '1,1.5,15', '2,1.5,16', '3,2.5,17']);
        expect(await lines(STARS, { kind: 'scatter' }, { u0: 2, u1: 3, v0: 0, v1: 20 })).toEqual([
            'row,bp − rp,g',
            '3,2.5,17',
        ]);
    });
    test('light curves with dates, errors and bands; folded ones once', async () => {
        const folded = await lines(CURVE, { period: 3 });
        expect(folded).toHaveLength(4);
        expect(folded[1]).toBe('1,2016-01-01T00:00:00.000,10,0.1,G');
    });
    test('bins of histograms, densities and maps', async () => {
        const bins = await lines(STARS, { kind: 'histogram' });
        expect(bins[0]).toBe('g_from,g_to,rows');
        expect(bins.slice(1).reduce((sum, line) => sum + Number(line.split(',')[2]), 0)).toBe(4);
        const density = await lines(STARS, { kind: 'density' });
        expect(density.slice(1).reduce((sum, line) => sum + Number(line.split(',')[2]), 0)).toBe(3);
        const map = await lines(STARS, { skyStyle: 'density' });
        expect(map[0]).toMatch(/^healpix_nested_icrs_order_\d,rows$/);
        expect(map.slice(1).reduce((sum, line) => sum + Number(line.split(',')[1]), 0)).toBe(3);
    });
});

describe('a plot', () => {
    test('takes what the table has, keeps its view where the axes stay', async () => {
        const plot = new TablePlot(STARS);
        plot.refresh();
        await vi.waitFor(() => expect(plot.data).toBeDefined());
        expect(plot.settings!.kind).toBe('sky');
        plot.changeSettings({ kind: 'scatter' });
        const view = { u0: 0, u1: 1, v0: 0, v1: 1 };
        plot.view = view;
        plot.changeSettings({ kind: 'density' });
        expect(plot.view).toBe(view);
        plot.setAxis('x', { column: 3, minus: -1 });
        expect(plot.view).toBeUndefined();
        plot.refresh();
        await vi.waitFor(() => expect((plot.data as PlotData).settings).toBe(plot.settings));
    });
    test('looks at a growing table now and then, not at every piece', async () => {
        const table = new MemoryTable([number('a'), number('b')], [[1, 2], [3, 4]]); // prettier-ignore
        const asked = vi.spyOn(table, 'readOrder');
        const plot = new TablePlot(table);
        for (let piece = 0; piece < 20; piece++) {
            plot.refresh();
            await Promise.resolve();
        }
        await vi.waitFor(() => expect(plot.data).toBeDefined());
        for (let piece = 0; piece < 20; piece++) plot.refresh();
        expect(asked.mock.calls.length).toBeLessThan(4);
        await vi.waitFor(() => expect(asked.mock.calls.length).toBeGreaterThan(1), { timeout: 3000 });
        plot.stopRefresh();
    });
    test('says what the table could not give', async () => {
        const table = new MemoryTable([number('a')], [[1]]);
        vi.spyOn(table, 'readNumbers').mockRejectedValue(new Error('out of memory'));
        const plot = new TablePlot(table);
        plot.refresh();
        await vi.waitFor(() => expect(plot.failure).toBe('out of memory'));
    });
    test('the box is forgotten with its rows', async () => {
        const plot = new TablePlot(STARS);
        plot.refresh();
        await vi.waitFor(() => expect(plot.data).toBeDefined());
        plot.changeSettings({ kind: 'scatter' });
        plot.refresh();
        await vi.waitFor(() => expect((plot.data as PlotData).settings.kind).toBe('scatter'));
        plot.chooseRows(Uint8Array.of(1, 0, 0, 0), { drawn: { tool: 'rectangle', positions: [[0, 0], [1, 1]], pixel: 0.01 }, manner: 'new' }); // prettier-ignore
        expect(plot.brushed?.condition).toContain('BETWEEN');
        expect(STARS.chosenCount).toBe(1);
        plot.chooseRows(undefined, undefined);
        expect(plot.brushed).toBeUndefined();
        expect(STARS.chosen).toBeUndefined();
    });
});
