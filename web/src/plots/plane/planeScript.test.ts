import { expect, test } from 'vitest';
import { AUTOMATIC, type LayerSettings } from '../points/layerSettings';
import { defaultSettings } from '../table/defaultSettings';
import { MemoryTable, number } from '../points/memoryTable.fixture';
import { planePython } from './planeScript';
import { NO_LAYERS } from '../layers/layerTable';
import { loadPlotData } from '../table/plotLoader';
import { arrangeScene } from '../table/arrangement';
import type { PlotSettings } from '../points/plotSettings';

const TABLE = new MemoryTable(
    ['x', 'y', 'e_x', 'e_y', 'up', 'flux', 'flux_error', 'mjd'].map((name) => number(name)),
    [[1, 2, 3, 4], [10, 12, 14, 17], [0.1, 0.1, 0.1, 0.1], [1, 1, 1, 1], [2, 2, 2, 2], [5, 6, 7, 8], [1, 1, 1, 1], [1, 2, 3, 4]], // prettier-ignore
);
const axis = (column: number, minus = -1, log = false) => ({ column, minus, log, reversed: undefined });

async function write(
    layers: Partial<LayerSettings>,
    changes: Partial<PlotSettings> = {},
    hasChosen = false,
): Promise<Record<string, unknown> & { notes: string }> {
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
    const script = planePython(scene, TABLE, hasChosen);
    const [, notes, json] = /\n\n\n((?:# The .*\n)*)show_plot\(rows, r"""(.*)"""\)$/s.exec(script)!;
    return { notes: notes!, ...(JSON.parse(json!) as Record<string, unknown>) };
}
const THEME = {} as never;
const column = (name: string) => ({ kind: 'number', name });

test('a plot without layers has a script without them', async () => {
    expect(await write({})).toMatchObject({ notes: '', layers: { errors: [] } });
    expect((await write({})).layers).not.toHaveProperty('fit');
});

test('error bars of both axes, with separate upper ends, and of a difference in quadrature', async () => {
    expect((await write({ xError: AUTOMATIC, yError: 3, yErrorUp: 4 })).layers).toEqual({
        errors: [
            { axis: 'x', columns: [column('e_x')], upper: null },
            { axis: 'y', columns: [column('e_y')], upper: column('up') },
        ],
    });
    const axes = { ...defaultSettings(TABLE.fields).axes, x: axis(0), y: axis(1, 5) };
    expect((await write({ yError: AUTOMATIC }, { axes })).layers).toEqual({
        errors: [{ axis: 'y', columns: [column('e_y'), column('flux_error')], upper: null }],
    });
});

test('a folded curve has its error bars, and no line over phases', async () => {
    const axes = { ...defaultSettings(TABLE.fields).axes, time: axis(7), flux: axis(5) };
    const written = await write({ fitted: true }, { kind: 'curve', axes, error: 6, period: 2 });
    expect(written.layers).toEqual({ errors: [{ axis: 'y', columns: [column('flux_error')], upper: null }] });
    expect(written.fold).toEqual({ zero: 0, period: 2 });
});

test('line and bins are of the rows in view, in the scales of the axes', async () => {
    const axes = { ...defaultSettings(TABLE.fields).axes, x: axis(0, -1, true), y: axis(1) };
    const written = await write({ fitted: true, statistic: 'median', statisticBins: 2, yError: 3 }, { axes });
    expect(written.axes).toMatchObject([{ log: true }, { log: false }]);
    expect(written.layers).toMatchObject({ fit: { weighted: true }, bins: { statistic: 'median' } });
    expect(written.notes).toBe('');
    expect((await write({ fitted: true }, {}, true)).notes).toContain(
        '# The page computes the line and the bins from the chosen rows',
    );
});

test('layers that it does not draw are named', async () => {
    const { notes } = await write({ contours: 'peak', marginals: true });
    expect(notes).toContain(
        '# The page also shows layers that this script does not draw: contours, marginal histograms.',
    );
});
