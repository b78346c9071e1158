/** Contours of the density of a plot's points. */

import type { Pen } from '../../canvas/pen';
import { xOnScreen, yOnScreen } from '../../canvas/plotView';
import { plotTexts } from '../../text/plotTexts';
import { CONTOURS } from '../points/layerSettings';
import type { PlotData } from '../points/plotData';
import type { Scene } from '../points/plotScene';
import type { PlanePosition } from '../../canvas/plotView';
import ContourOptions from './ContourOptions.svelte';
import { findContours, type Contour } from './densityContours';
import type { Layer, LayerSummary, SummaryScene } from './layer';

const texts = plotTexts.layers;

export const contours: Layer = {
    title: texts.contours,
    kinds: ['scatter', 'density'],
    isOn: (layers) => layers.contours !== 'none',
    kept: { usual: { contours: 'none', smoothing: 1 }, words: { contours: CONTOURS } },
    summarize: ({ scene }) => ({ contours: contoursOf(scene) }),
    paint: { lines: drawContours },
    describe: (_data, _fields, summary) => {
        const levels = summary?.settings.layers.contours ?? 'none';
        return summary?.contours.length && levels !== 'none' ? [texts.description.contours[levels]] : [];
    },
    Options: ContourOptions,
};

const known = new WeakMap<PlotData, { key: string; found: readonly Contour[] }>();

/** Return the contours of the rows in view; the known ones if only the chosen rows have changed. */
function contoursOf({ data, view, box }: SummaryScene): readonly Contour[] {
    const { contours: levels, smoothing: factor } = data.settings.layers;
    if (levels === 'none') return [];
    const key = JSON.stringify([view, box, levels, factor]);
    const before = known.get(data);
    if (before?.key === key) return before.found;
    const found = findContours(data.points, view, box, { levels, factor });
    known.set(data, { key, found });
    return found;
}

const toScreen = ({ view, box }: Scene, line: readonly number[]) =>
    line.map((value, k) => (k % 2 === 0 ? xOnScreen(view, box, value) : yOnScreen(view, box, value)));

/** Draw all contours, then their labels where they do not touch each other. */
function drawContours(pen: Pen, scene: Scene, { contours: found }: LayerSummary): void {
    const { theme, box } = scene;
    const all = found.map(({ lines }) => lines.map((line) => toScreen(scene, line)));
    for (const path of all.flat()) {
        pen.line(path, theme.ground, 3);
        pen.line(path, theme.text, 1.2);
    }
    const style = { colour: theme.text, halo: theme.ground, size: 11, align: 'center' } as const;
    const taken: PlanePosition[] = [];
    // outer ones first: they have more room
    for (let k = found.length - 1; k >= 0; k--) {
        const at = findLabelPosition(all[k]!, box, taken);
        if (!at) continue;
        taken.push(at);
        pen.text(`${Math.round(100 * found[k]!.fraction)} %`, ...at, style);
    }
}

/** Least distance of two labels, in CSS pixels. */
const APART = 26;

/** Return the position on the lines that is farthest from other labels; undefined if none is far enough. */
function findLabelPosition(
    paths: readonly number[][],
    { left, top, width, height }: Scene['box'],
    taken: readonly PlanePosition[],
): PlanePosition | undefined {
    let best: PlanePosition | undefined;
    let most = APART;
    for (const path of paths) {
        if (path.length < 16) continue;
        for (let k = 0; k < path.length; k += 2) {
            const [x, y] = [path[k]!, path[k + 1]!];
            if (x < left + 16 || x > left + width - 16 || y < top + 8 || y > top + height - 8) continue;
            // the first label is near the top, where lines are far apart; the others are far from it
            const away = Math.min(2 * APART + top + height - y, ...taken.map(([u, v]) => Math.hypot(x - u, y - v)));
            if (away > most) [best, most] = [[x, y], away];
        }
    }
    return best;
}
