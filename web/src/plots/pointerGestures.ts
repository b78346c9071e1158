/** Pointers over a plot: drags, pinches and clicks become moves of the view, boxes and lines. */

import type { Place } from './pointSelection';
import type { Tool } from './tablePlot.svelte';
import { between, moved, zoomed, type Box, type View } from '../canvas/plotView';

/** What a pointer works on. */
export interface Host {
    readonly box: Box;
    readonly view: View;
    readonly tool: Tool;
    /** histograms: only the horizontal axis may change */
    readonly flat: boolean;
    look(view: View): void;
    /** a box or line that is being drawn, in CSS pixels; none when it is done */
    sketch(line: readonly Place[] | undefined): void;
    brush(tool: 'rectangle' | 'lasso', line: readonly Place[], event: PointerEvent): void;
    click(x: number, y: number, event: PointerEvent): void;
    hover(x: number, y: number): void;
    /** the last finger or button is up */
    still(): void;
}

/** Movements shorter than this, in CSS pixels, are clicks. */
const SLACK = 4;

export class Pointing {
    #pointers = new Map<number, [number, number]>();
    #line: Place[] = [];
    #travelled = 0;
    #pinched = false;

    constructor(private readonly host: Host) {}

    down(id: number, x: number, y: number): void {
        this.#pointers.set(id, [x, y]);
        if (this.#pointers.size > 1) {
            this.#pinched = true;
            this.#line = [];
            this.host.sketch(undefined);
            return;
        }
        this.#pinched = false;
        this.#travelled = 0;
        this.#line = [[x, y]];
    }

    move(id: number, x: number, y: number): void {
        const before = this.#pointers.get(id);
        if (!before) return this.host.hover(x, y);
        if (this.#pointers.size === 2) this.#pinch(id, x, y);
        else if (this.#pointers.size === 1 && !this.#pinched) this.#drag(before, x, y);
        this.#pointers.set(id, [x, y]);
    }

    up(id: number, x: number, y: number, event: PointerEvent): void {
        if (!this.#pointers.delete(id)) return;
        if (this.#pointers.size) return;
        this.host.sketch(undefined);
        const start = this.#line[0];
        if (!this.#pinched && start) {
            if (this.#travelled < SLACK) this.host.click(x, y, event);
            else this.#finish(start, [x, y], event);
        }
        this.#line = [];
        this.host.still();
    }

    /** The browser took the pointer away. */
    cancel(id: number): void {
        this.#pointers.delete(id);
        this.#line = [];
        this.host.sketch(undefined);
        this.host.still();
    }

    #finish(start: Place, end: Place, event: PointerEvent): void {
        const { host } = this;
        if (host.tool === 'zoom') host.look(between(host.view, host.box, ...this.#corners(start, end)));
        else if (host.tool === 'rectangle') host.brush('rectangle', this.#corners(start, end), event);
        else if (host.tool === 'lasso') host.brush('lasso', this.#line, event);
    }

    /** The corners of a box; on a histogram it is as high as the plot. */
    #corners(start: Place, end: Place): [Place, Place] {
        const { box, flat } = this.host;
        if (!flat) return [start, end];
        return [
            [start[0], box.top],
            [end[0], box.top + box.height],
        ];
    }

    #drag([fromX, fromY]: [number, number], x: number, y: number): void {
        const { host } = this;
        const start = this.#line[0]!;
        this.#travelled = Math.max(this.#travelled, Math.hypot(x - start[0], y - start[1]));
        if (host.tool === 'move') {
            if (this.#travelled >= SLACK) host.look(moved(host.view, host.box, x - fromX, host.flat ? 0 : y - fromY));
            return;
        }
        if (host.tool === 'lasso') {
            this.#line.push([x, y]);
            host.sketch(this.#line);
            return;
        }
        const [[left, top], [right, bottom]] = this.#corners(start, [x, y]);
        host.sketch([
            [left, top],
            [right, top],
            [right, bottom],
            [left, bottom],
            [left, top],
        ]);
    }

    #pinch(id: number, x: number, y: number): void {
        const { host } = this;
        const own = this.#pointers.get(id)!;
        const other = [...this.#pointers].find(([pointer]) => pointer !== id)?.[1];
        if (!other) return;
        const before = Math.hypot(own[0] - other[0], own[1] - other[1]);
        const after = Math.hypot(x - other[0], y - other[1]);
        const [middleX, middleY] = [(x + other[0]) / 2, (y + other[1]) / 2];
        const pushed = moved(host.view, host.box, (x - own[0]) / 2, host.flat ? 0 : (y - own[1]) / 2);
        if (before < 10 || after < 10) return host.look(pushed);
        host.look(zoomed(pushed, host.box, before / after, middleX, middleY, { u: true, v: !host.flat }));
    }
}

/** What a key does to the view; undefined if it is none of the plot's. */
export function keyed(key: string, view: View, box: Box, flat: boolean): View | 'all' | undefined {
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const axes = { u: true, v: !flat };
    const step = 40;
    switch (key) {
        case 'ArrowLeft':
            return moved(view, box, step, 0);
        case 'ArrowRight':
            return moved(view, box, -step, 0);
        case 'ArrowUp':
            return moved(view, box, 0, flat ? 0 : step);
        case 'ArrowDown':
            return moved(view, box, 0, flat ? 0 : -step);
        case '+':
        case '=':
            return zoomed(view, box, 0.7, x, y, axes);
        case '-':
        case '_':
            return zoomed(view, box, 1 / 0.7, x, y, axes);
        case '0':
            return 'all';
        default:
            return undefined;
    }
}
