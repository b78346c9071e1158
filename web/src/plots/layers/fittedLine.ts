/** A straight line by least squares, with its equation. */

import { pixelToCss } from '../../canvas/colourRamps';
import type { Pen } from '../../canvas/pen';
import { xOnScreen, yOnScreen } from '../../canvas/plotView';
import type { Field } from '../../model/resultModel';
import { fitLine, lineAt } from '../../statistics/lineFit';
import { plotTexts } from '../../text/plotTexts';
import { joinLines } from '../points/csvLines';
import type { PlotData } from '../points/plotData';
import type { Scene } from '../points/plotScene';
import { scaledError } from './errorBarEnds';
import FitOptions from './FitOptions.svelte';
import { describeFit, fitNames } from './fitText';
import type { Layer, LayerSummary, SummaryRows } from './layer';

const texts = plotTexts.layers;
const SIZE = 12;

export const fittedLine: Layer = {
    title: texts.fitted,
    kinds: ['scatter', 'density', 'curve'],
    // a line over phases would fit every row twice
    fits: ({ kind, period }) => !(kind === 'curve' && period > 0),
    isOn: ({ fitted }) => fitted,
    kept: { usual: { fitted: false } },
    summarize: fitPoints,
    paint: { lines: drawFit, words: drawFitText },
    describe: (_data, fields, summary) => {
        const fit = summary && describeFit(fields, summary);
        if (!fit) return [];
        return [fit.equation ? texts.description.fit(fit.equation, fit.of) : fit.of];
    },
    script: (_scene, summary) => (summary?.fit ? { fit: { weighted: summary.weighted } } : {}),
    file: { name: 'line', title: texts.saveFit, lines: fitLines },
    Options: FitOptions,
};

function fitPoints({ scene, members }: SummaryRows): Partial<LayerSummary> {
    const { points } = scene.data;
    const errors = errorsOf(scene.data);
    const fit = fitLine({ x: points.u, y: points.v, members: members(), errors });
    return { fit, unfit: !fit, weighted: errors !== undefined };
}

/** Return the errors of the vertical axis in its scale, by point. */
function errorsOf({ points, layers }: PlotData): Float64Array | undefined {
    const { yErrors } = layers;
    return yErrors && points.v.map((value, point) => scaledError(value, points.rows[point]!, yErrors));
}

/** Steps of the band of a line across the plot: its edges are hyperbolas. */
const STEPS = 64;

function drawFit(pen: Pen, scene: Scene, { fit }: LayerSummary): void {
    if (!fit) return;
    const { view, box } = scene;
    const colour = fitColour(scene);
    const edge = (side: number) =>
        Array.from({ length: STEPS + 1 }, (_, k) => {
            const u = view.u0 + (k / STEPS) * (view.u1 - view.u0);
            const { y, error } = lineAt(fit, u);
            return [xOnScreen(view, box, u), yOnScreen(view, box, y + side * error)] as const;
        });
    pen.area([...edge(1), ...edge(-1).reverse()].flat(), colour, 0.2);
    const line = [edge(0)[0]!, edge(0).at(-1)!].flat();
    pen.line(line, scene.theme.ground, 3.5);
    pen.line(line, colour, 1.8);
}

const fitColour = ({ theme }: Scene) => pixelToCss(theme.kinds[3]!);

function drawFitText(pen: Pen, scene: Scene, summary: LayerSummary | undefined): void {
    const described = summary && describeFit(scene.fields, summary);
    if (!described) return;
    const { box, theme, note } = scene;
    const equation = wrapText(pen, described.equation, box.width - 12);
    const lines = [...equation, ...wrapText(pen, described.of, box.width - 12)];
    // a low plot is for its points: its options have the words too
    if (16 * lines.length > box.height / 2) return;
    const style = { baseline: 'top', halo: theme.ground, size: SIZE } as const;
    lines.forEach((line, k) => {
        const colour = k < equation.length ? fitColour(scene) : theme.text;
        pen.text(line, box.left + 6, box.top + 6 + (note ? 18 : 0) + 16 * k, { ...style, colour });
    });
}

/** Break a text at spaces into lines of a width. */
function wrapText(pen: Pen, content: string, width: number): string[] {
    const lines: string[] = [];
    for (const word of content.split(' ').filter(Boolean)) {
        const longer = lines.length > 0 ? `${lines.at(-1)!} ${word}` : word;
        if (lines.length > 0 && pen.measure(longer, SIZE) <= width) lines[lines.length - 1] = longer;
        else lines.push(word);
    }
    return lines;
}

/** Return the lines of CSV of a fitted line, in the scales of its axes; undefined without a line. */
export function fitLines(
    fields: readonly Field[],
    { fit, settings, basis, weighted }: LayerSummary,
): string[] | undefined {
    if (!fit) return undefined;
    const [x, y] = fitNames(fields, settings);
    return joinLines([
        ['quantity', 'value', 'standard_error'],
        ['x', x, ''],
        ['y', y, ''],
        ['intercept', fit.intercept, fit.interceptError],
        ['slope', fit.slope, fit.slopeError],
        ['covariance', fit.covariance, ''],
        ['rms', fit.rms, ''],
        ['rows', fit.count, ''],
        ['rows_of', basis, ''],
        ...(weighted ? [['reduced_chi_square', fit.chiSquare!, '']] : []),
    ]);
}
