/** A corner plot on the screen: draws changes and reacts to the pointer. */

import type { PlanePosition } from '../../canvas/plotView';
import { canvasPen, type Pen } from '../../canvas/pen';
import { prepareCanvas } from '../../canvas/pixelCanvas';
import { themeAt, type Theme } from '../../canvas/canvasTheme';
import { uAt, vAt } from '../../canvas/plotView';
import { layOutCorner, panelAt, type CornerPanel } from './cornerLayout';
import { paintChosenCorner, paintCorner, panelPoints, type CornerScene } from './paintCorner';
import { describePart } from '../table/plotDescription';
import type { Size } from '../points/plotLayout';
import type { Look } from '../points/plotPicture';
import { chosenRows, rectangleArea, type Manner } from '../points/pointSelection';
import type { TablePlot } from '../table/tablePlot.svelte';

export class CornerStage {
    size = $state.raw<Size>({ width: 0, height: 0 });
    theme = $state.raw<Theme | undefined>();
    /** the box being drawn: two corners, in CSS pixels */
    drawn = $state.raw<readonly [PlanePosition, PlanePosition] | undefined>();
    #brush: { panel: CornerPanel; start: PlanePosition; before: Uint8Array | undefined } | undefined;

    readonly scene = $derived.by<CornerScene | undefined>(() => {
        const { theme, size, plot } = this;
        const { values } = plot;
        if (!theme || !values || values === 'columns' || values.settings.kind !== 'corner') return undefined;
        if (size.width < 120 || size.height < 120) return undefined;
        const common = { values, size, theme, ratio: window.devicePixelRatio, note: describePart(plot.table) };
        return { ...common, panels: layOutCorner(values, size) };
    });

    constructor(readonly plot: TablePlot) {}

    takeTheme(element: HTMLElement): void {
        this.theme = themeAt(element);
    }

    drawPicture(canvas: HTMLCanvasElement): void {
        const { scene } = this;
        if (!scene) return void prepareCanvas(canvas, 1, 1, 1);
        const start = performance.now();
        const { size, ratio, theme, values } = scene;
        paintCorner(canvasPen(prepareCanvas(canvas, size.width, size.height, ratio), theme.font), scene);
        // tests read the positions of what is drawn
        canvas.dataset['drawn'] = JSON.stringify({
            kind: 'corner',
            points: values.rows.length,
            took: performance.now() - start,
            panels: scene.panels.map(({ box, view, column, row }) => ({ box, view, column, row })),
        });
    }

    drawChosen(canvas: HTMLCanvasElement): void {
        const { scene } = this;
        const { chosen, chosenCount } = this.plot.table;
        if (!scene || !chosen) return void prepareCanvas(canvas, 1, 1, 1);
        const { size, ratio, theme } = scene;
        paintChosenCorner(canvasPen(prepareCanvas(canvas, size.width, size.height, ratio), theme.font), scene, chosen);
        canvas.dataset['drawn'] = String(chosenCount);
    }

    /** Paint the plot as a file has it. */
    paintFile(pen: Pen, look: Look, values: CornerScene['values']): void {
        const scene = { values, ...look, note: this.scene?.note ?? '', panels: layOutCorner(values, look.size) };
        paintCorner(pen, scene);
        const { chosen } = this.plot.table;
        if (chosen) paintChosenCorner(pen, scene, chosen);
    }

    beginBrush(x: number, y: number): void {
        const panel = this.scene && panelAt(this.scene.panels, x, y);
        this.#brush = panel && { panel, start: [x, y], before: this.plot.table.chosen };
    }

    /** Choose the rows between the start of the brush and a position; on the diagonal the box is as high as the panel. */
    brushTo(x: number, y: number, manner: Manner): void {
        const { scene } = this;
        if (!this.#brush || !scene) return;
        const { panel, start, before } = this.#brush;
        const { box, view } = panel;
        const held: PlanePosition = [
            Math.max(box.left, Math.min(box.left + box.width, x)),
            Math.max(box.top, Math.min(box.top + box.height, y)),
        ];
        if (!this.drawn && Math.hypot(x - start[0], y - start[1]) < SLACK) return;
        const flat = panel.column === panel.row;
        const corners: [PlanePosition, PlanePosition] = flat ? [[start[0], box.top], [held[0], box.top + box.height]] : [start, held]; // prettier-ignore
        this.drawn = corners;
        const [one, other] = corners.map(([left, top]): PlanePosition => [uAt(view, box, left), flat ? 0 : vAt(view, box, top)]) as [PlanePosition, PlanePosition]; // prettier-ignore
        const points = panelPoints(scene.values, panel);
        const area = rectangleArea(one, other);
        // a histogram has no height
        const bounds = flat ? { ...area.bounds, v0: -Infinity, v1: Infinity } : area.bounds;
        this.plot.chooseRows(chosenRows(points, { bounds }, this.plot.table.rows, before, manner), undefined);
    }

    /** End the brush; a click chooses none. */
    endBrush(kept: boolean): void {
        const brush = this.#brush;
        if (brush && !kept) this.plot.chooseRows(brush.before, undefined);
        else if (brush && !this.drawn) this.plot.chooseRows(undefined, undefined);
        this.#brush = undefined;
        this.drawn = undefined;
    }
}

/** Shorter movements are clicks (CSS pixels). */
const SLACK = 4;
