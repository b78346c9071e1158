/** Histograms of the rows in view, above a plot and to its right. */

import type { Pen } from '../../canvas/pen';
import type { Box } from '../../canvas/plotView';
import { sumMargins, type MarginalCounts } from '../../statistics/marginalCounts';
import { plotTexts } from '../../text/plotTexts';
import { rasterOf } from '../points/paintPoints';
import type { Scene } from '../points/plotScene';
import { countChosenPixels, countPixels } from '../points/pointPixels';
import { isShown, type Layer } from './layer';
import MarginalOptions from './MarginalOptions.svelte';

const texts = plotTexts.layers;

export const marginals: Layer = {
    title: texts.marginals,
    kinds: ['scatter', 'density'],
    isOn: (layers) => layers.marginals,
    kept: { usual: { marginals: false } },
    margin: ({ width, height }) => (width < 480 || height < 300 ? 36 : 60),
    paint: { under: paintMarginals, chosen: paintChosenMarginals },
    describe: ({ settings }) => (isShown(marginals, settings) ? [texts.description.marginals] : []),
    Options: MarginalOptions,
};

/** Width of a bin, in CSS pixels. */
const BIN = 6;
/** Distance from the plot, in CSS pixels. */
const GAP = 3;
/** Room above the highest bar for its count, in CSS pixels. */
const HEAD = 13;

const known = new WeakMap<Scene, MarginalCounts>();

/** Paint the histograms of all rows in view. */
function paintMarginals(pen: Pen, scene: Scene, faint: boolean): void {
    if (!isShown(marginals, scene.data.settings)) return;
    const counts = countsOf(scene);
    drawMargins(pen, scene, counts, counts, faint ? scene.theme.line : scene.theme.accent);
    const [above, right] = marginBoxes(scene);
    const { theme, box } = scene;
    pen.line([above.left, box.top - GAP, above.left + above.width, box.top - GAP], theme.quiet, 0.6);
    const perBin = rasterOf(scene).raster.width / counts.across.length;
    const most = texts.highestBin(Math.round(Math.max(...counts.across) * perBin));
    pen.text(most, above.left, above.top, { colour: theme.quiet, baseline: 'top', halo: theme.ground, size: 10 });
    pen.line([right.left, right.top, right.left, right.top + right.height], theme.quiet, 0.6);
}

/** Paint the histograms of the chosen rows over them. */
function paintChosenMarginals(pen: Pen, scene: Scene, chosen: Uint8Array): void {
    if (!isShown(marginals, scene.data.settings)) return;
    drawMargins(pen, scene, countMargins(scene, chosen), countsOf(scene), scene.theme.warn);
}

function countsOf(scene: Scene): MarginalCounts {
    const counts = known.get(scene) ?? countMargins(scene, undefined);
    known.set(scene, counts);
    return counts;
}

function countMargins(scene: Scene, chosen: Uint8Array | undefined): MarginalCounts {
    const { raster, indexes } = rasterOf(scene);
    const pixels = raster.width * raster.height;
    const hits = chosen ? countChosenPixels(scene.data.points, indexes, chosen, pixels) : countPixels(indexes, pixels);
    const bins = (length: number) => Math.max(1, Math.round(length / BIN));
    return sumMargins(hits, raster, { across: bins(scene.box.width), down: bins(scene.box.height) });
}

/** Return the boxes above the plot and to its right. */
function marginBoxes({ box, margin }: Scene): [Box, Box] {
    const room = margin - 2 * GAP;
    return [
        { left: box.left, top: box.top - GAP - room, width: box.width, height: room },
        { left: box.left + box.width + GAP, top: box.top, width: room, height: box.height },
    ];
}

function drawMargins(pen: Pen, scene: Scene, counts: MarginalCounts, all: MarginalCounts, colour: string): void {
    const [above, right] = marginBoxes(scene);
    const [mostAcross, mostDown] = [Math.max(...all.across, 1e-9), Math.max(...all.down, 1e-9)];
    const [wide, high] = [above.width / counts.across.length, right.height / counts.down.length];
    counts.across.forEach((count, bin) => {
        const length = (count / mostAcross) * (above.height - HEAD);
        if (count) pen.fill(above.left + bin * wide, above.top + above.height - length, wide - 0.5, length, colour);
    });
    counts.down.forEach((count, bin) => {
        const length = (count / mostDown) * right.width;
        if (count) pen.fill(right.left, right.top + bin * high, length, high - 0.5, colour);
    });
}
