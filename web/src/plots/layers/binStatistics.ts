/** Means or medians in bins of the horizontal axis. */

import { niceStep } from '../../canvas/roundSteps';
import type { Pen } from '../../canvas/pen';
import { xOnScreen, yOnScreen } from '../../canvas/plotView';
import { binValues, type Bins } from '../../statistics/binnedValues';
import { plotTexts } from '../../text/plotTexts';
import { joinLines, unscaleValue } from '../points/csvLines';
import { STATISTICS } from '../points/layerSettings';
import type { Scene } from '../points/plotScene';
import { planeAxes, quantityName } from '../points/plotSettings';
import BinOptions from './BinOptions.svelte';
import type { Layer, LayerSummary, SummaryRows } from './layer';
import type { Field } from '../../model/resultModel';

const texts = plotTexts.layers;

export const binStatistics: Layer = {
    title: texts.statistic,
    kinds: ['scatter', 'density', 'curve'],
    isOn: ({ statistic }) => statistic !== 'none',
    kept: { usual: { statistic: 'none', statisticBins: 0 }, words: { statistic: STATISTICS } },
    summarize: (rows) => ({ binned: binPoints(rows) }),
    paint: { marks: drawBinned },
    describe: (_data, _fields, summary) => {
        const statistic = summary?.settings.layers.statistic ?? 'none';
        if (!summary?.binned.length || statistic === 'none') return [];
        const { binned, basis } = summary;
        return [texts.description.binned(texts.statistics[statistic], binned.length, texts.basis[basis])];
    },
    script: (_scene, summary) => {
        const [first] = summary?.binned ?? [];
        if (!first) return {};
        const { statistic } = summary!.settings.layers;
        return { bins: { statistic: statistic as 'mean' | 'median', start: first.from, width: first.to - first.from } };
    },
    file: { name: 'bins', title: texts.saveBins, lines: binnedLines },
    Options: BinOptions,
};

function binPoints({ scene, members }: SummaryRows): LayerSummary['binned'] {
    const { settings, points } = scene.data;
    const { statistic, statisticBins: wanted } = settings.layers;
    const found = members();
    let [low, high] = [Infinity, -Infinity];
    for (const at of found) {
        if (points.u[at]! < low) low = points.u[at]!;
        if (points.u[at]! > high) high = points.u[at]!;
    }
    if (!(low <= high) || statistic === 'none') return [];
    const bins = binsBetween(low, high, wanted || suitableCount(found.length));
    return binValues({ x: points.u, y: points.v, members: found }, bins, statistic);
}

/** Return a number of bins with some rows in each. */
const suitableCount = (rows: number) => Math.max(4, Math.min(25, Math.round(rows / 8)));

function binsBetween(low: number, high: number, wanted: number): Bins {
    const width = high > low ? niceStep(high - low, wanted) : Math.abs(low) * 1e-3 || 1;
    const first = Math.floor(low / width + 1e-9);
    return { start: first * width, width, count: Math.floor(high / width + 1e-9) - first + 1 };
}

function drawBinned(pen: Pen, scene: Scene, { binned }: LayerSummary): void {
    const { theme, view, box } = scene;
    for (const [colour, extra] of [
        [theme.ground, 2],
        [theme.text, 0],
    ] as const) {
        for (const { from, to, middle, low, high } of binned) {
            const [left, right] = [xOnScreen(view, box, from), xOnScreen(view, box, to)];
            const [x, y] = [(left + right) / 2, yOnScreen(view, box, middle)];
            pen.line([left, y, right, y], colour, 1.6 + extra);
            const ends = [low, high].map((end) => yOnScreen(view, box, end)) as [number, number];
            if (!Number.isNaN(low)) pen.line([x, ends[0], x, ends[1]], colour, 1.4 + extra);
            const half = 3 + extra / 2;
            pen.fill(x - half, y - half, 2 * half, 2 * half, colour);
        }
    }
}

/** Return the lines of CSV of the values in bins; undefined without bins. */
export function binnedLines(fields: readonly Field[], { binned, settings }: LayerSummary): string[] | undefined {
    if (!binned.length) return undefined;
    const [x, y] = planeAxes(settings);
    const [across, up] = [quantityName(fields, x), quantityName(fields, y)];
    const { statistic } = settings.layers;
    const spread = statistic === 'mean' ? ['minus_deviation', 'plus_deviation'] : ['16_percent', '84_percent'];
    const head = [
        `${across}_from`,
        `${across}_to`,
        'rows',
        `${up}_${statistic}`,
        ...spread.map((end) => `${up}_${end}`),
    ];
    const lines = binned.map(({ from, to, rows, middle, low, high }) => [
        unscaleValue(from, x.log),
        unscaleValue(to, x.log),
        rows,
        ...[middle, low, high].map((value) => unscaleValue(value, y.log)),
    ]);
    return joinLines([head, ...lines]);
}
