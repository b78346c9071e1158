import { expect, test } from 'vitest';
import { AUTOMATIC, NO_LAYERS, type LayerSettings } from '../layers/layerSettings';
import { defaultSettings } from './defaultSettings';
import { MemoryTable, number } from './memoryTable.fixture';
import { planePython } from './planeScripts';
import { loadPlotData } from './plotData';
import type { PlotSettings } from './plotSettings';
import { arrangeScene } from './tablePlot.svelte';

const TABLE = new MemoryTable(
    ['x', 'y', 'e_x', 'e_y', 'up', 'flux', 'flux_error', 'mjd'].map((name) => number(name)),
    [[1, 2, 3, 4], [10, 12, 14, 17], [0.1, 0.1, 0.1, 0.1], [1, 1, 1, 1], [2, 2, 2, 2], [5, 6, 7, 8], [1, 1, 1, 1], [1, 2, 3, 4]], // prettier-ignore
);
const axis = (column: number, minus = -1, log = false) => ({ column, minus, log, reversed: undefined });

async function write(layers: Partial<LayerSettings>, changes: Partial<PlotSettings> = {}, hasChosen = false) {
    const usual = defaultSettings(TABLE.fields);
    const settings: PlotSettings = {
        ...usual,
        kind: 'scatter',
        axes: { ...usual.axes, x: axis(0), y: axis(1) },
        ...changes,
        layers: { ...NO_LAYERS, ...layers },
    };
    const data = await loadPlotData(TABLE, settings);
    if (data === 'columns') throw new Error('columns are missing');
    const size = { width: 600, height: 400 };
    const arranged = arrangeScene(data, TABLE, size, undefined);
    const scene = { ...arranged, data, fields: TABLE.fields, size, theme: THEME, ratio: 1, moving: false, note: '' };
    return planePython(scene, TABLE, hasChosen);
}
const THEME = {} as never;

test('a plot without layers has a script without them', async () => {
    const script = await write({});
    for (const word of ['errorbar', 'polyfit', 'bins', '# ']) expect(script).not.toContain(word);
});

test('error bars of both axes, with upper ones of their own, and of a difference in quadrature', async () => {
    const script = await write({ xError: AUTOMATIC, yError: 3, yErrorUp: 4 });
    expect(script).toContain('x_low = np.abs(numbers("e_x"))\nx_high = x_low\n');
    expect(script).toContain('y_low = np.abs(numbers("e_y"))\ny_high = np.abs(numbers("up"))\n');
    expect(script).toContain('ax.errorbar(x[barred], y[barred], xerr=[x_low[barred], x_high[barred]], fmt="none"');
    expect(script).toContain('yerr=[y_low[barred], y_high[barred]]');
    const axes = { ...defaultSettings(TABLE.fields).axes, x: axis(0), y: axis(1, 5) };
    expect(await write({ yError: AUTOMATIC }, { axes })).toContain(
        'y_low = np.hypot(numbers("e_y"), numbers("flux_error"))',
    );
});

test('a folded curve has its error bars in both periods', async () => {
    const axes = { ...defaultSettings(TABLE.fields).axes, time: axis(7), flux: axis(5) };
    const script = await write({ fitted: true }, { kind: 'curve', axes, error: 6, period: 2 });
    expect(script).toContain('yerr=[np.concatenate([y_low[barred], y_low[barred]])');
    expect(script).not.toContain('polyfit');
});

test('line and bins are of the rows in view, in the scales of the axes', async () => {
    const axes = { ...defaultSettings(TABLE.fields).axes, x: axis(0, -1, true), y: axis(1) };
    const script = await write({ fitted: true, statistic: 'median', statisticBins: 2, yError: 3 }, { axes });
    expect(script).toContain('u, v = np.log10(x[good]), y[good]\n');
    expect(script).toContain('np.polyfit(u[fitted] - middle, v[fitted], 1, w=1 / sigma[fitted], cov="unscaled")');
    expect(script).toContain('np.percentile(own, ');
    expect(script).not.toContain('chosen rows');
    expect(await write({ fitted: true }, {}, true)).toContain('# The page shows line and bins of the chosen rows');
});

test('layers that it does not draw are named', async () => {
    const script = await write({ contours: 'peak', marginals: true });
    expect(script).toContain('# The page shows more, which this script does not draw: contours, marginal histograms.');
});
