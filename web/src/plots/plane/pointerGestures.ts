/** Pointer gestures over a plot: drags, pinches and clicks move the view or draw boxes and lines. */
import type { PlanePosition } from '../../canvas/plotView';
import type { Tool } from '../table/tablePlot.svelte';
import { viewBetween, moveView, zoomView, type Box, type View } from '../../canvas/plotView';

/** The plot that gestures act on. */
export interface GestureHost {
    readonly box: Box;
    readonly view: View;
    readonly tool: Tool;
    /** histogram: only the horizontal axis may change */
    readonly flat: boolean;
    setView(view: View): void;
    /** the box or line being drawn, in CSS pixels; undefined when it is done */
    sketchLine(line: readonly PlanePosition[] | undefined): void;
    /** choose the rows in a box or line, which may still grow */
    brushRows(tool: 'rectangle' | 'lasso', line: readonly PlanePosition[], event: PointerEvent): void;
    /** the box or line is complete; or cancelled: then the earlier choice is restored */
    endBrush(kept: boolean): void;
    clickAt(x: number, y: number, event: PointerEvent): void;
    hoverAt(x: number, y: number): void;
    /** the last finger or button is up */
    settleView(): void;
}

/** Shorter movements are clicks (CSS pixels). */
const SLACK = 4;

export class PointerGestures {
    #pointers = new Map<number, [number, number]>();
    #line: PlanePosition[] = [];
    #travelled = 0;
    #pinched = false;

    constructor(private readonly host: GestureHost) {}

    pointerDown(id: number, x: number, y: number): void {
        this.#pointers.set(id, [x, y]);
        if (this.#pointers.size > 1) {
            this.#pinched = true;
            this.#line = [];
            this.host.sketchLine(undefined);
            this.host.endBrush(false);
            return;
        }
        this.#pinched = false;
        this.#travelled = 0;
        this.#line = [[x, y]];
    }

    pointerMove(id: number, x: number, y: number, event: PointerEvent): void {
        const before = this.#pointers.get(id);
        if (!before) return this.host.hoverAt(x, y);
        if (this.#pointers.size === 2) this.#pinchTo(id, x, y);
        else if (this.#pointers.size === 1 && !this.#pinched) this.#dragTo(before, [x, y], event);
        this.#pointers.set(id, [x, y]);
    }

    pointerUp(id: number, x: number, y: number, event: PointerEvent): void {
        if (!this.#pointers.delete(id)) return;
        if (this.#pointers.size) return;
        this.host.sketchLine(undefined);
        const start = this.#line[0];
        if (!this.#pinched && start) {
            if (this.#travelled < SLACK) this.host.clickAt(x, y, event);
            else this.#finishDrag(start, [x, y], event);
        }
        this.#line = [];
        this.host.endBrush(true);
        this.host.settleView();
    }

    /** The browser took the pointer away. */
    pointerCancel(id: number): void {
        this.#pointers.delete(id);
        this.#line = [];
        this.host.sketchLine(undefined);
        this.host.endBrush(false);
        this.host.settleView();
    }

    #finishDrag(start: PlanePosition, end: PlanePosition, event: PointerEvent): void {
        const { host } = this;
        if (host.tool === 'zoom') host.setView(viewBetween(host.view, host.box, ...this.#boxCorners(start, end)));
        else this.#brushTo(start, end, event);
    }

    #brushTo(start: PlanePosition, end: PlanePosition, event: PointerEvent): void {
        const { host } = this;
        if (host.tool === 'rectangle') host.brushRows('rectangle', this.#boxCorners(start, end), event);
        else if (host.tool === 'lasso') host.brushRows('lasso', this.#line, event);
    }

    /** Return the corners of a box; on a histogram it spans the height. */
    #boxCorners(start: PlanePosition, end: PlanePosition): [PlanePosition, PlanePosition] {
        const { box, flat } = this.host;
        if (!flat) return [start, end];
        return [
            [start[0], box.top],
            [end[0], box.top + box.height],
        ];
    }

    #dragTo([fromX, fromY]: PlanePosition, [x, y]: PlanePosition, event: PointerEvent): void {
        const { host } = this;
        const start = this.#line[0]!;
        this.#travelled = Math.max(this.#travelled, Math.hypot(x - start[0], y - start[1]));
        if (host.tool === 'move') {
            if (this.#travelled >= SLACK)
                host.setView(moveView(host.view, host.box, x - fromX, host.flat ? 0 : y - fromY));
            return;
        }
        if (host.tool === 'lasso') {
            this.#line.push([x, y]);
            host.sketchLine(this.#line);
            if (this.#travelled >= SLACK) this.#brushTo(start, [x, y], event);
            return;
        }
        if (this.#travelled >= SLACK) this.#brushTo(start, [x, y], event);
        const [[left, top], [right, bottom]] = this.#boxCorners(start, [x, y]);
        host.sketchLine([
            [left, top],
            [right, top],
            [right, bottom],
            [left, bottom],
            [left, top],
        ]);
    }

    #pinchTo(id: number, x: number, y: number): void {
        const { host } = this;
        const own = this.#pointers.get(id)!;
        const other = [...this.#pointers].find(([pointer]) => pointer !== id)?.[1];
        if (!other) return;
        const before = Math.hypot(own[0] - other[0], own[1] - other[1]);
        const after = Math.hypot(x - other[0], y - other[1]);
        const [middleX, middleY] = [(x + other[0]) / 2, (y + other[1]) / 2];
        const pushed = moveView(host.view, host.box, (x - own[0]) / 2, host.flat ? 0 : (y - own[1]) / 2);
        if (before < 10 || after < 10) return host.setView(pushed);
        host.setView(zoomView(pushed, host.box, before / after, middleX, middleY, { u: true, v: !host.flat }));
    }
}

/** Return the view after a key; undefined if the plot does not use the key. */
export function viewAfterKey(key: string, view: View, box: Box, flat: boolean): View | 'all' | undefined {
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const axes = { u: true, v: !flat };
    const step = 40;
    switch (key) {
        case 'ArrowLeft':
            return moveView(view, box, step, 0);
        case 'ArrowRight':
            return moveView(view, box, -step, 0);
        case 'ArrowUp':
            return moveView(view, box, 0, flat ? 0 : step);
        case 'ArrowDown':
            return moveView(view, box, 0, flat ? 0 : -step);
        case '+':
        case '=':
            return zoomView(view, box, 0.7, x, y, axes);
        case '-':
        case '_':
            return zoomView(view, box, 1 / 0.7, x, y, axes);
        case '0':
            return 'all';
        default:
            return undefined;
    }
}
