/** What the frame of a plot's canvases asks of the plot. */

import type { Size } from './plotLayout';

/** What draws a plot on the screen. */
export interface FrameStage {
    size: Size;
    /** Read the page's colours. */
    takeTheme(element: HTMLElement): void;
}

/** What pointer and keys do; x and y in CSS pixels of the frame. */
export interface FrameGestures {
    /** the right button has its own meaning */
    readonly hasSecondButton?: boolean;
    /** Return whether the pointer belongs to the frame until it is up. */
    down(event: PointerEvent, x: number, y: number): boolean;
    move(event: PointerEvent, x: number, y: number): void;
    up(event: PointerEvent, x: number, y: number): void;
    cancel(event: PointerEvent): void;
    leave?(): void;
    wheel?(event: WheelEvent, x: number, y: number): void;
    /** Return whether the key did something. */
    key(event: KeyboardEvent): boolean;
}
