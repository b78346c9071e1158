/** Paints what layers tell above the points: contours, means in bins, a fitted line, the names of overlays. */

import { pixelToCss } from '../canvas/colourRamps';
import type { Pen } from '../canvas/pen';
import { xOnScreen, yOnScreen } from '../canvas/plotView';
import { lineAt } from '../layers/lineFit';
import type { Contour } from './densityContours';
import { describeFit } from './fitText';
import type { LayerSummary } from './layerSummary';
import { overlayColours } from './paintOverlays';
import type { PlotData } from './plotData';
import { isSamePlane } from './plotSettings';
import type { Place } from './pointSelection';
import type { Scene } from './plotScene';

const SIZE = 12;

/** Paint the layers of a summary that belongs to the axes shown, and the names of overlays. */
export function paintLayers(pen: Pen, scene: Scene, summary: LayerSummary | undefined): void {
    const { data, box } = scene;
    if (summary && isSamePlane(summary.settings, data.settings)) {
        pen.within(box, () => {
            drawContours(pen, scene, summary.contours);
            drawFit(pen, scene, summary);
            drawBinned(pen, scene, summary);
        });
        drawFitText(pen, scene, summary);
    }
    drawOverlayNames(pen, scene, data);
}

const toScreen = ({ view, box }: Scene, line: readonly number[]) =>
    line.map((value, k) => (k % 2 === 0 ? xOnScreen(view, box, value) : yOnScreen(view, box, value)));

/** Draw all contours, then their labels where they do not touch each other. */
function drawContours(pen: Pen, scene: Scene, contours: readonly Contour[]): void {
    const { theme, box } = scene;
    const all = contours.map(({ lines }) => lines.map((line) => toScreen(scene, line)));
    for (const path of all.flat()) {
        pen.line(path, theme.ground, 3);
        pen.line(path, theme.text, 1.2);
    }
    const style = { colour: theme.text, halo: theme.ground, size: 11, align: 'center' } as const;
    const placed: Place[] = [];
    // outer ones first: they have more room
    for (let k = contours.length - 1; k >= 0; k--) {
        const place = labelPlace(all[k]!, box, placed);
        if (!place) continue;
        placed.push(place);
        pen.text(`${Math.round(100 * contours[k]!.fraction)} %`, ...place, style);
    }
}

/** Least distance of two labels, in CSS pixels. */
const APART = 26;

/** Return the place on the lines that is farthest from other labels; undefined if none is far enough. */
function labelPlace(paths: readonly number[][], box: Scene['box'], placed: readonly Place[]): Place | undefined {
    const { left, top, width, height } = box;
    let best: Place | undefined;
    let most = APART;
    for (const path of paths) {
        if (path.length < 16) continue;
        for (let k = 0; k < path.length; k += 2) {
            const [x, y] = [path[k]!, path[k + 1]!];
            if (x < left + 16 || x > left + width - 16 || y < top + 8 || y > top + height - 8) continue;
            // the first label stands far up, where lines lie apart; the others far from it
            const away = Math.min(2 * APART + top + height - y, ...placed.map(([u, v]) => Math.hypot(x - u, y - v)));
            if (away > most) [best, most] = [[x, y], away];
        }
    }
    return best;
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

function drawFitText(pen: Pen, scene: Scene, summary: LayerSummary): void {
    const described = describeFit(scene.fields, summary);
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

/** Name the overlays and the plot's own rows with their colours, in the lower corner on the right. */
function drawOverlayNames(pen: Pen, scene: Scene, { layers, shades }: PlotData): void {
    const { box, theme } = scene;
    const colours = overlayColours(scene).map(pixelToCss);
    const others = layers.overlays.flatMap(({ overlay, points }, at) =>
        points ? [{ title: overlay.title, colour: colours[at]! }] : [],
    );
    if (others.length === 0) return;
    const own = layers.title && !shades ? [{ title: layers.title, colour: theme.accent }] : [];
    const shown = [...own, ...others];
    const right = box.left + box.width - 8;
    shown.forEach(({ title, colour }, k) => {
        const y = box.top + box.height - 14 - 18 * (shown.length - 1 - k);
        let kept = title;
        while (kept.length > 1 && pen.measure(kept, SIZE) > box.width / 2) kept = kept.slice(0, -1);
        const name = kept === title ? title : `${kept.slice(0, -1)}…`;
        pen.text(name, right - 15, y, { colour: theme.text, halo: theme.ground, align: 'right', size: SIZE });
        pen.fill(right - 10, y - 5, 10, 10, colour);
    });
}
