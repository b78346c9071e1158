/**
 * Draws several pictures in the browser's frames: the urgent one in the next frame, and in turn as many of the others
 * as there is time for, at least one. So a brush stays smooth for any number of linked plots.
 */

/** Milliseconds of a frame after which the other pictures wait for the next one. */
const ENOUGH = 16;

type Draw = () => void;

export class FrameQueue {
    readonly #urgent = new Map<unknown, Draw>();
    readonly #others = new Map<unknown, Draw>();
    #frame = 0;

    constructor(private readonly nextFrame: (draw: Draw) => number) {}

    /** Draw once for `owner`, however often it asks until then. */
    request(owner: unknown, draw: Draw, isUrgent: boolean): void {
        if (isUrgent) {
            this.#others.delete(owner);
            this.#urgent.set(owner, draw);
        } else if (!this.#urgent.has(owner)) this.#others.set(owner, draw);
        this.#frame ||= this.nextFrame(() => this.#drawFrame());
    }

    /** Cancel what `owner` has requested. */
    cancel(owner: unknown): void {
        this.#urgent.delete(owner);
        this.#others.delete(owner);
    }

    #drawFrame(): void {
        this.#frame = 0;
        const start = performance.now();
        for (const [owner, draw] of [...this.#urgent]) {
            this.#urgent.delete(owner);
            draw();
        }
        for (const [owner, draw] of [...this.#others]) {
            this.#others.delete(owner);
            draw();
            if (performance.now() - start > ENOUGH) break;
        }
        if (this.#others.size || this.#urgent.size) this.#frame ||= this.nextFrame(() => this.#drawFrame());
    }
}

export const chosenFrames = new FrameQueue((draw) => requestAnimationFrame(draw));
