/** A plot on the screen: draws changes and reacts to the pointer. */

import type { PlanePosition } from '../../canvas/plotView';
import { arrangeScene } from '../table/arrangement';
import { chosenRows, lassoArea, rectangleArea, thinLine, type Manner } from '../points/pointSelection';
import { chosenFrames } from './frameQueue';
import type { Size } from '../points/plotLayout';
import type { Drawn } from '../table/boxConditions';
import { PointIndex } from '../points/nearestPoint';
import { findBin, type BinHit } from '../layers/binHit';
import { StageLayers } from '../layers/stageLayers.svelte';
import { paintChosen, paintPicture } from './paintPlot';
import type { Scene } from '../points/plotScene';
import { canvasPen } from '../../canvas/pen';
import { type Brushed, type TablePlot } from '../table/tablePlot.svelte';
import { prepareCanvas } from '../../canvas/pixelCanvas';
import { describePart } from '../table/plotDescription';
import { AXES } from '../points/plotSettings';
import type { GestureHost } from './pointerGestures';
import { themeAt, type Theme } from '../../canvas/canvasTheme';
import { roundToPixel, uAt, vAt, xOnScreen, yOnScreen, type View } from '../../canvas/plotView';

/** Distance from the pointer to a point, in CSS pixels. */
const REACH = 12;
/** Milliseconds without movement before the picture is drawn at full quality. */
const STILL = 160;

/** The point under the pointer and its position. */
export interface Hit {
    readonly point: number;
    readonly row: number;
    readonly x: number;
    readonly y: number;
}

export class PlotStage implements GestureHost {
    size = $state.raw<Size>({ width: 0, height: 0 });
    theme = $state.raw<Theme | undefined>();
    line = $state.raw<readonly PlanePosition[] | undefined>();
    hit = $state.raw<Hit | undefined>();
    /** the bin under the pointer, with its mean or median */
    bin = $state.raw<BinHit | undefined>();
    moving = $state(false);
    /** milliseconds of the last drawing */
    took = 0;
    readonly layers = new StageLayers();
    #nearest: { scene: Scene; index: PointIndex } | undefined;
    /** the brush that is being drawn: the rows chosen before it, and the line drawn so far */
    #brush: { readonly before: Uint8Array | undefined; step?: Pick<Brushed, 'drawn' | 'manner'> } | undefined;
    #timer: ReturnType<typeof setTimeout> | undefined;

    /** The scene to draw; undefined without data or room. */
    readonly scene = $derived.by<Scene | undefined>(() => {
        const { plot, size, theme } = this;
        const { data } = plot;
        if (!theme || !data || data === 'columns' || size.width < 60 || size.height < 60) return undefined;
        const { fields } = plot.table;
        const arranged = arrangeScene(data, plot.table, size, plot.view);
        const ratio = window.devicePixelRatio;
        const note = describePart(plot.table);
        return { ...arranged, data, fields, size, theme, ratio, note, moving: this.moving };
    });

    /** Some rows are chosen: the others are faint. */
    readonly faint = $derived.by(() => this.plot.table.chosen !== undefined);

    constructor(readonly plot: TablePlot) {}

    get box() {
        return this.scene!.box;
    }
    get view() {
        return this.scene!.view;
    }
    get tool() {
        return this.plot.tool;
    }
    get flat() {
        return this.plot.settings?.kind === 'histogram';
    }

    /** Read the page's colours. */
    takeTheme(element: HTMLElement): void {
        this.theme = themeAt(element);
    }

    /** Draw the picture. */
    drawScene(canvas: HTMLCanvasElement): void {
        const { scene } = this;
        if (!scene) return void prepareCanvas(canvas, 1, 1, 1);
        const start = performance.now();
        const context = prepareCanvas(canvas, scene.size.width, scene.size.height, scene.ratio);
        paintPicture(canvasPen(context, scene.theme.font), scene, this.faint);
        this.took = performance.now() - start;
        // tests read the positions of what is drawn
        const { left, top, width, height } = scene.box;
        const { u0, u1, v0, v1 } = scene.view;
        const shown = { kind: scene.data.settings.kind, points: scene.data.points.count, took: this.took };
        canvas.dataset['drawn'] = JSON.stringify({
            ...shown,
            box: [left, top, width, height],
            view: [u0, u1, v0, v1],
        });
    }

    /** Draw the chosen rows above the picture; the plot that is being brushed comes before the others. */
    drawChosen(canvas: HTMLCanvasElement): void {
        const draw = (): void => {
            const { scene } = this;
            const { chosen, chosenCount } = this.plot.table;
            if (!scene || !chosen) return void prepareCanvas(canvas, 1, 1, 1);
            const context = prepareCanvas(canvas, scene.size.width, scene.size.height, scene.ratio);
            paintChosen(canvasPen(context, scene.theme.font), scene, chosen);
            canvas.dataset['drawn'] = String(chosenCount);
        };
        chosenFrames.request(canvas, draw, this.#brush !== undefined);
    }

    /** Cancel the pending drawing of chosen rows: the canvas is removed, or shows another stage. */
    dropChosen(canvas: HTMLCanvasElement): void {
        chosenFrames.cancel(canvas);
    }

    /** Draw the layer above the picture: the line being drawn and the row under the pointer. */
    drawOver(canvas: HTMLCanvasElement, row: number): void {
        const { scene, line } = this;
        if (!scene) return void prepareCanvas(canvas, 1, 1, 1);
        const context = prepareCanvas(canvas, scene.size.width, scene.size.height, scene.ratio);
        if (line) {
            context.beginPath();
            for (const [x, y] of line) context.lineTo(x, y);
            context.closePath();
            context.fillStyle = scene.theme.warn;
            context.globalAlpha = 0.15;
            context.fill();
            context.globalAlpha = 1;
            context.strokeStyle = scene.theme.warn;
            context.lineWidth = 1.5;
            context.stroke();
        }
        const position = this.positionOf(row);
        if (position) this.#drawRing(context, position, scene.theme);
    }

    #drawRing(context: CanvasRenderingContext2D, [x, y]: PlanePosition, theme: Theme): void {
        for (const [colour, width] of [
            [theme.ground, 4],
            [theme.text, 2],
        ] as const) {
            context.beginPath();
            context.arc(x, y, 7, 0, 2 * Math.PI);
            context.strokeStyle = colour;
            context.lineWidth = width;
            context.stroke();
        }
    }

    /** Return the screen position of a row, in CSS pixels; undefined if it is not shown. */
    positionOf(row: number): PlanePosition | undefined {
        const { scene } = this;
        if (!scene || row < 0 || this.flat) return undefined;
        const { rows } = scene.data.points;
        const known = this.hit?.point ?? -1;
        const point = rows[known] === row ? known : rows.indexOf(row);
        if (point < 0) return undefined;
        const { view, box, data } = scene;
        const [x, y] = [xOnScreen(view, box, data.points.u[point]!), yOnScreen(view, box, data.points.v[point]!)];
        const within = x >= box.left && y >= box.top && x <= box.left + box.width && y <= box.top + box.height;
        return within ? [x, y] : undefined;
    }

    setView(view: View | undefined): void {
        this.plot.view = view;
        [this.hit, this.bin] = [undefined, undefined];
        this.moving = true;
        this.settleView();
    }

    settleView(): void {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => (this.moving = false), STILL);
    }

    sketchLine(line: readonly PlanePosition[] | undefined): void {
        this.line = line && [...line];
    }

    hoverAt(x: number, y: number): void {
        this.bin = this.scene && findBin(this.scene, this.layers.summary, x, y);
        const hit = this.bin ? undefined : this.#hitAt(x, y);
        if (hit?.point !== this.hit?.point) this.hit = hit;
        this.plot.table.hovered = hit?.row ?? -1;
    }

    clearHover(): void {
        [this.hit, this.bin] = [undefined, undefined];
        this.plot.table.hovered = -1;
    }

    clickAt(x: number, y: number, event: PointerEvent): void {
        const { table } = this.plot;
        const hit = this.#hitAt(x, y);
        this.hit = hit;
        const several = event.shiftKey || event.ctrlKey || event.metaKey;
        if (!hit) return several ? undefined : this.plot.chooseRows(undefined, undefined);
        const marks = new Uint8Array(table.rows);
        if (several && table.chosen) marks.set(table.chosen.subarray(0, marks.length));
        marks[hit.row] = several && marks[hit.row] ? 0 : 1;
        table.hovered = hit.row;
        this.plot.chooseRows(marks.includes(1) ? marks : undefined, undefined);
    }

    brushRows(tool: 'rectangle' | 'lasso', line: readonly PlanePosition[], event: PointerEvent): void {
        const { scene } = this;
        if (!scene) return;
        const { view, box } = scene;
        const exact = (tool === 'lasso' ? thinLine(line, 2) : line).map(([x, y]): PlanePosition => [
            uAt(view, box, x),
            vAt(view, box, y),
        ]);
        const positions = tool === 'rectangle' ? exact.map((position) => this.#roundCorner(position, scene)) : exact;
        this.#brush ??= { before: this.plot.table.chosen };
        this.#chooseInside(
            tool,
            positions,
            event.shiftKey ? 'add' : event.altKey ? 'remove' : 'new',
            this.#brush.before,
        );
    }

    endBrush(kept: boolean): void {
        const { plot } = this;
        const brush = this.#brush;
        this.#brush = undefined;
        // conditions come at the end: their text would change the size of the picture below the pointer
        if (!brush) return;
        const step = kept && brush.step && { ...brush.step, before: brush.before };
        plot.chooseRows(kept ? plot.table.chosen : brush.before, step || undefined);
    }

    /** Round a corner of a box to as few digits as the screen resolves. */
    #roundCorner([u, v]: PlanePosition, { data: { settings }, view, box }: Scene): PlanePosition {
        if (settings.kind === 'sky') return [u, v];
        const [horizontal, vertical] = AXES[settings.kind].map((role) => settings.axes[role]);
        const [du, dv] = [(view.u1 - view.u0) / box.width, (view.v1 - view.v0) / box.height];
        return [roundToPixel(u, du, horizontal!.log), vertical ? roundToPixel(v, dv, vertical.log) : v];
    }

    /** Choose all rows in the view. */
    chooseShown(): void {
        const { scene } = this;
        if (!scene) return;
        const { u0, u1, v0, v1 } = scene.view;
        this.#chooseInside('rectangle', this.flat ? [[u0, -1], [u1, 1]] : [[u0, v0], [u1, v1]], 'new'); // prettier-ignore
    }

    #chooseInside(
        tool: 'rectangle' | 'lasso',
        positions: readonly PlanePosition[],
        manner: Manner,
        before?: Uint8Array,
    ): void {
        const { plot, scene } = this;
        const [one, other] = [positions[0]!, positions.at(-1)!];
        const corners = this.flat ? ([[one[0], -1], [other[0], 1]] as const) : ([one, other] as const); // prettier-ignore
        const inside = tool === 'lasso' ? lassoArea(positions) : rectangleArea(...corners);
        const {
            data: { points },
            view,
            box,
        } = scene!;
        const rows = chosenRows(points, inside, plot.table.rows, before, manner);
        const drawn: Drawn = {
            tool,
            positions: tool === 'lasso' ? positions : corners,
            pixel: Math.abs(view.u1 - view.u0) / box.width,
        };
        if (this.#brush) this.#brush.step = { drawn, manner };
        plot.chooseRows(rows, this.#brush ? undefined : { drawn, manner, before });
    }

    #hitAt(x: number, y: number): Hit | undefined {
        const { scene } = this;
        if (!scene || this.flat) return undefined;
        const { data, view, box } = scene;
        if (this.#nearest?.scene !== scene) this.#nearest = { scene, index: new PointIndex(data.points, view, box) };
        const point = this.#nearest.index.findPoint(x, y, REACH);
        if (point < 0) return undefined;
        return {
            point,
            row: data.points.rows[point]!,
            x: xOnScreen(view, box, data.points.u[point]!),
            y: yOnScreen(view, box, data.points.v[point]!),
        };
    }
}
