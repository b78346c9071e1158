/** Pointer gestures over a plot in space: turn, shift, pinch, brush. */

import type { PlanePosition } from '../../canvas/plotView';
import type { Camera } from '../table/camera';
import type { Manner } from '../points/pointSelection';
import type { Size } from '../points/plotLayout';
import { shiftCamera, turnCamera, zoomCamera } from './spaceCamera';

export interface SpaceHost {
    readonly camera: Camera;
    /** of the part that shows the points */
    readonly size: Size;
    /** a drag draws a box or line, and does not turn */
    readonly brushes: boolean;
    setCamera(camera: Camera): void;
    /** the box (first and last position) or line being drawn */
    brushTo(line: readonly PlanePosition[], manner: Manner): void;
    endBrush(kept: boolean): void;
    clickAt(x: number, y: number, several: boolean): void;
    hoverAt(x: number, y: number): void;
}

type Keys = Pick<PointerEvent, 'shiftKey' | 'altKey' | 'ctrlKey' | 'metaKey'>;

/** Shorter movements are clicks (CSS pixels). */
const SLACK = 4;

export class SpaceGestures {
    readonly #pointers = new Map<number, PlanePosition>();
    #line: PlanePosition[] = [];
    #travelled = 0;
    #isShift = false;

    constructor(private readonly host: SpaceHost) {}

    pointerDown(id: number, position: PlanePosition, button: number, keys: Keys): void {
        this.#pointers.set(id, position);
        if (this.#pointers.size > 1) {
            this.#line = [];
            return this.host.endBrush(false);
        }
        this.#travelled = 0;
        this.#line = [position];
        this.#isShift = button !== 0 || (keys.shiftKey && !this.host.brushes);
    }

    pointerMove(id: number, position: PlanePosition, keys: Keys): void {
        const before = this.#pointers.get(id);
        if (!before) return this.host.hoverAt(...position);
        if (this.#pointers.size === 2) this.#pinch(id, before, position);
        else if (this.#line.length) this.#drag(before, position, keys);
        this.#pointers.set(id, position);
    }

    pointerUp(id: number, position: PlanePosition, keys: Keys): void {
        if (!this.#pointers.delete(id) || this.#pointers.size) return;
        if (this.#line.length && this.#travelled < SLACK)
            this.host.clickAt(...position, keys.shiftKey || keys.ctrlKey || keys.metaKey);
        this.#line = [];
        this.host.endBrush(true);
    }

    pointerCancel(id: number): void {
        this.#pointers.delete(id);
        this.#line = [];
        this.host.endBrush(false);
    }

    #drag([fromX, fromY]: PlanePosition, [x, y]: PlanePosition, keys: Keys): void {
        const { host } = this;
        const start = this.#line[0]!;
        this.#travelled = Math.max(this.#travelled, Math.hypot(x - start[0], y - start[1]));
        if (this.#travelled < SLACK) return;
        if (host.brushes && !this.#isShift) {
            this.#line.push([x, y]);
            return host.brushTo(this.#line, keys.shiftKey ? 'add' : keys.altKey ? 'remove' : 'new');
        }
        const [dx, dy] = [x - fromX, y - fromY];
        host.setCamera(this.#isShift ? shiftCamera(host.camera, dx, dy, host.size) : turnCamera(host.camera, dx, dy));
    }

    /** Two fingers zoom and shift. */
    #pinch(id: number, before: PlanePosition, [x, y]: PlanePosition): void {
        const { host } = this;
        const other = [...this.#pointers].find(([pointer]) => pointer !== id)?.[1];
        if (!other) return;
        const length = (position: PlanePosition) =>
            Math.max(1, Math.hypot(position[0] - other[0], position[1] - other[1]));
        const middle = [(x + other[0]) / 2, (y + other[1]) / 2] as const;
        const zoomed = zoomCamera(host.camera, length([x, y]) / length(before), host.size, middle);
        host.setCamera(shiftCamera(zoomed, (x - before[0]) / 2, (y - before[1]) / 2, host.size));
    }
}
