/** Moves a column by dragging its header. */

import type { GridState } from './gridState.svelte';

/** Pixels from which a press is a drag. */
const SLACK = 6;

export class ColumnDrag {
    /** the slot before which the column would be inserted */
    target = $state<number | undefined>();
    readonly #grid: GridState;
    #pressed: { readonly column: number; readonly x: number } | undefined;
    /** the click that ends a drag does not sort */
    #isDropped = false;

    constructor(grid: GridState) {
        this.#grid = grid;
    }

    /** Touches scroll instead: they move columns by the menu. */
    press(event: PointerEvent & { readonly currentTarget: HTMLElement }, column: number): void {
        this.#isDropped = false;
        if (event.pointerType === 'touch' || event.button !== 0) return;
        this.#pressed = { column, x: event.clientX };
    }

    /** `left`: where slot 0 would start on the screen, in pixels. */
    follow(event: PointerEvent & { readonly currentTarget: HTMLElement }, left: number): void {
        if (!this.#pressed) return;
        if (this.target === undefined && Math.abs(event.clientX - this.#pressed.x) < SLACK) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        this.target = this.#findSlot(event.clientX - left);
    }

    /** Return the slot whose middle is the first behind a position. Pinned columns do not scroll. */
    #findSlot(at: number): number {
        const { starts, pinned, box } = this.#grid;
        const [last, seen] = [starts.length - 1, at - box.left];
        const isPinned = seen < (starts[pinned] ?? 0);
        for (let slot = isPinned ? 0 : pinned; slot < last; slot++)
            if ((isPinned ? seen : at) < (starts[slot]! + starts[slot + 1]!) / 2) return slot;
        return last;
    }

    drop(): void {
        const { shown } = this.#grid.arrangement;
        if (this.#pressed && this.target !== undefined) {
            this.#isDropped = true;
            this.#grid.arrangement.moveColumn(this.#pressed.column, shown[this.target]);
        }
        this.cancel();
    }

    cancel(): void {
        [this.#pressed, this.target] = [undefined, undefined];
    }

    /** Whether the click that is handled now ended a drag. */
    takeDrop(): boolean {
        const dropped = this.#isDropped;
        this.#isDropped = false;
        return dropped;
    }
}
