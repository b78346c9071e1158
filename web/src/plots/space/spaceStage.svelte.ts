/** A plot in space on the screen: draws changes and reacts to the pointer. */

import type { PlanePosition } from '../../canvas/plotView';
import type { Camera } from '../table/camera';
import { themeAt, type Theme } from '../../canvas/canvasTheme';
import { canvasPen, type Pen } from '../../canvas/pen';
import { prepareCanvas } from '../../canvas/pixelCanvas';
import { paintSpaceBox, paintSpaceDiscs, paintSpaceLegends, sceneProjection, sceneSize } from './paintSpace';
import { describePart } from '../table/plotDescription';
import type { Size } from '../points/plotLayout';
import type { Points } from '../points/plotPoints';
import { MAX_SHAPES, type Look } from '../points/plotPicture';
import { chosenRows, lassoArea, rectangleArea, thinLine, type Manner } from '../points/pointSelection';
import { projectPosition } from './spaceCamera';
import { drawSeparately, frameOf, projectPoints } from './spaceFrames';
import { renderRatio, SpaceRenderer, type SpaceFrame } from './spaceRenderer';
import { markPoints, pointAtNumber, spacePoints, type SpaceScene } from './spaceScene';
import type { TablePlot } from '../table/tablePlot.svelte';

/** Milliseconds without movement before all points are drawn. */
const STILL = 160;
/** Milliseconds for a picture while it moves. */
const FLUENT = 40;
const LEAST_SHARE = 0.02;

/** The row under the pointer and its position. */
export interface SpaceHit {
    readonly row: number;
    readonly x: number;
    readonly y: number;
}

export class SpaceStage {
    size = $state.raw<Size>({ width: 0, height: 0 });
    theme = $state.raw<Theme | undefined>();
    /** the box or line being drawn, in CSS pixels */
    line = $state.raw<readonly PlanePosition[] | undefined>();
    hit = $state.raw<SpaceHit | undefined>();
    moving = $state(false);
    /** why nothing can be drawn */
    failure = $state('');
    /** grows when the browser has given the context back */
    restored = $state(0);
    /** milliseconds of the last drawing */
    took = 0;
    #renderer: SpaceRenderer | undefined;
    #loaded: { values: SpaceScene['values']; theme: Theme; chosen: Uint8Array | undefined } | undefined;
    #isDrawing = false;
    #again = false;
    #frame: SpaceFrame | undefined;
    #share = 1;
    #timer: ReturnType<typeof setTimeout> | undefined;
    /** where the pointer is, while it is over the plot */
    #pointer: PlanePosition | undefined;
    #picking = false;
    #isHeld = false;
    /** where the points are on the screen, for a brush */
    #projected: { scene: SpaceScene; points: Points } | undefined;
    #brush: { before: Uint8Array | undefined } | undefined;

    readonly scene = $derived.by<SpaceScene | undefined>(() => {
        const { theme, size, plot } = this;
        const { values, camera } = plot;
        if (!theme || !values || values === 'columns' || values.settings.kind !== 'space') return undefined;
        if (size.width < 120 || size.height < 120) return undefined;
        const note = describePart(plot.table);
        return { values, camera, size, theme, ratio: window.devicePixelRatio, note };
    });

    constructor(readonly plot: TablePlot) {}

    takeTheme(element: HTMLElement): void {
        this.theme = themeAt(element);
    }

    /** Draw with WebGL on a canvas. Return a function that frees its memory. */
    takeCanvas(canvas: HTMLCanvasElement): () => void {
        const lost = (event: Event) => event.preventDefault();
        const back = () => {
            this.#renderer?.restore();
            this.#loaded = undefined;
            this.restored++;
        };
        canvas.addEventListener('webglcontextlost', lost);
        canvas.addEventListener('webglcontextrestored', back);
        try {
            this.#renderer = new SpaceRenderer(canvas);
        } catch (error) {
            this.failure = (error as Error).message;
        }
        return () => {
            canvas.removeEventListener('webglcontextlost', lost);
            canvas.removeEventListener('webglcontextrestored', back);
            this.#renderer?.close();
            this.#renderer = undefined;
        };
    }

    drawBox(canvas: HTMLCanvasElement): void {
        const { scene } = this;
        if (!scene) return void prepareCanvas(canvas, 1, 1, 1);
        const context = prepareCanvas(canvas, scene.size.width, scene.size.height, scene.ratio);
        paintSpaceBox(canvasPen(context, scene.theme.font), scene);
    }

    /** Draw the points, and draw them again if anything has changed before the graphics processor has finished. */
    drawPoints(canvas: HTMLCanvasElement): void {
        const { scene } = this;
        const renderer = this.#renderer;
        if (!scene || !renderer) return;
        if (this.#isDrawing) return void (this.#again = true);
        const start = performance.now();
        this.#loadPoints(renderer, scene);
        const share = this.moving ? this.#share : 1;
        const { values, ratio, camera } = scene;
        const frame = frameOf(scene, renderRatio(values.rows.length, ratio), this.plot.table.chosen !== undefined, share); // prettier-ignore
        this.#frame = { ...frame, share: 1 };
        renderer.draw(frame);
        // tests read the positions of what is drawn
        canvas.dataset['drawn'] = JSON.stringify({ kind: 'space', points: values.rows.length, share, camera });
        this.#isDrawing = true;
        void renderer.finish().then(() => {
            this.took = performance.now() - start;
            // where all points take too long, a share of them moves
            this.#share = Math.max(LEAST_SHARE, Math.min(1, share * Math.min(1.5, FLUENT / this.took)));
            this.#isDrawing = false;
            if (!this.#again) return;
            this.#again = false;
            this.drawPoints(canvas);
        });
    }

    /** Send points and marks to the graphics processor if they have changed. */
    #loadPoints(renderer: SpaceRenderer, { values, theme }: SpaceScene): void {
        const { chosen } = this.plot.table;
        const isNew = this.#loaded?.values !== values || this.#loaded.theme !== theme;
        if (isNew) renderer.setPoints(spacePoints(values, theme));
        if (isNew || this.#loaded?.chosen !== chosen) renderer.setChosen(chosen && markPoints(values, chosen));
        this.#loaded = { values, theme, chosen };
    }

    /** Draw what is above the points: legends, the line being drawn, the row under the pointer. */
    drawOver(canvas: HTMLCanvasElement, row: number): void {
        const { scene, line } = this;
        if (!scene) return void prepareCanvas(canvas, 1, 1, 1);
        const { theme, size, ratio } = scene;
        const context = prepareCanvas(canvas, size.width, size.height, ratio);
        paintSpaceLegends(canvasPen(context, theme.font), scene, this.plot.table.fields);
        const trace = (colour: string, width: number) => {
            context.strokeStyle = colour;
            context.lineWidth = width;
            context.stroke();
        };
        context.beginPath();
        for (const [x, y] of line ?? []) context.lineTo(x, y);
        if (line) context.closePath();
        trace(theme.warn, 1.5);
        const position = this.positionOf(row);
        if (!position) return;
        context.beginPath();
        context.arc(...position, 7, 0, 2 * Math.PI);
        trace(theme.ground, 4);
        trace(theme.text, 2);
    }

    /** Return the position of a row in the picture, in CSS pixels. */
    positionOf(row: number): [number, number] | undefined {
        const { scene } = this;
        const point = scene && row >= 0 ? scene.values.rows.indexOf(row) : -1;
        if (!scene || point < 0) return undefined;
        const at = scene.values.axes.map(({ values, range: [from, to] }) => (2 * (values[point]! - from)) / (to - from) - 1); // prettier-ignore
        const [x, y] = projectPosition(sceneProjection(scene), at[0]!, at[1]!, at[2]!);
        return x >= 0 && y >= 0 && x <= sceneSize(scene).width && y <= scene.size.height ? [x, y] : undefined;
    }

    setCamera(camera: Camera): void {
        this.plot.camera = camera;
        this.hit = undefined;
        this.#move();
    }

    /** Note whether a finger or button is down: while it is, the picture counts as moving. */
    hold(isHeld: boolean): void {
        this.#isHeld = isHeld;
        if (this.moving) this.#move();
    }

    /** Draw fast until nothing has moved for a moment. */
    #move(): void {
        this.moving = true;
        clearTimeout(this.#timer);
        if (!this.#isHeld) this.#timer = setTimeout(() => (this.moving = false), STILL);
    }

    async hoverAt(x: number, y: number): Promise<void> {
        this.#pointer = [x, y];
        if (this.moving || this.#picking) return;
        this.#picking = true;
        const row = await this.#rowAt(x, y);
        this.#picking = false;
        const now = this.#pointer;
        if (!now || this.moving) return;
        // the pointer has moved on meanwhile
        if (now[0] !== x || now[1] !== y) return this.hoverAt(...now);
        const position = this.positionOf(row);
        this.hit = position && { row, x: position[0], y: position[1] };
        this.plot.table.hovered = row;
    }

    clearHover(): void {
        this.#pointer = undefined;
        this.hit = undefined;
        this.plot.table.hovered = -1;
    }

    /** Choose the row at a position; with `several`, in addition to the chosen rows. */
    async clickAt(x: number, y: number, several: boolean): Promise<void> {
        const { table } = this.plot;
        const row = await this.#rowAt(x, y);
        if (row < 0) return several ? undefined : this.plot.chooseRows(undefined, undefined);
        const marks = new Uint8Array(table.rows);
        if (several && table.chosen) marks.set(table.chosen.subarray(0, marks.length));
        marks[row] = several && marks[row] ? 0 : 1;
        this.plot.chooseRows(marks.includes(1) ? marks : undefined, undefined);
    }

    /** Choose the rows of all points, hidden ones too, in a box between the ends of a line or within the line. */
    brushTo(line: readonly PlanePosition[], manner: Manner): void {
        const { scene, plot } = this;
        if (!scene) return;
        this.#brush ??= { before: plot.table.chosen };
        this.#move();
        const isBox = plot.tool === 'rectangle';
        const [[left, top], [right, bottom]] = [line[0]!, line.at(-1)!];
        this.line = isBox ? [[left, top], [right, top], [right, bottom], [left, bottom]] : [...line]; // prettier-ignore
        const inside = isBox ? rectangleArea(line[0]!, line.at(-1)!) : lassoArea(thinLine(line, 2));
        const points = this.#projectPoints(scene);
        plot.chooseRows(chosenRows(points, inside, plot.table.rows, this.#brush.before, manner), undefined);
    }

    endBrush(kept: boolean): void {
        if (this.#brush && !kept) this.plot.chooseRows(this.#brush.before, undefined);
        this.#brush = undefined;
        this.line = undefined;
    }

    /** Paint the plot for a file: discs if the pen writes shapes, otherwise pixels. */
    paintFile(pen: Pen, look: Look, from: SpaceScene): void {
        const scene: SpaceScene = { ...from, ...look };
        const { chosen, fields } = this.plot.table;
        paintSpaceBox(pen, scene);
        if (pen.isVector && scene.values.rows.length <= MAX_SHAPES) paintSpaceDiscs(pen, scene, chosen);
        else {
            const { width, height } = sceneSize(scene);
            pen.image(drawSeparately(scene, chosen), 0, 0, width, height);
        }
        paintSpaceLegends(pen, scene, fields);
    }

    async #rowAt(x: number, y: number): Promise<number> {
        const { scene } = this;
        if (!scene || !this.#frame || !this.#renderer) return -1;
        const number = await this.#renderer.pick(this.#frame, x, y);
        const { rows } = scene.values;
        return number < 0 ? -1 : (rows[pointAtNumber(number, rows.length)] ?? -1);
    }

    #projectPoints(scene: SpaceScene) {
        if (this.#projected?.scene !== scene) this.#projected = { scene, points: projectPoints(scene) };
        return this.#projected.points;
    }
}
