/** Where pointers are in a drawn frame, and drawing with the browser's frames. */

/** Return the position of a pointer in an element, in CSS pixels. */
export function pixelIn(frame: Element, { clientX, clientY }: MouseEvent): [number, number] {
    const { left, top } = frame.getBoundingClientRect();
    return [clientX - left, clientY - top];
}

/** Return how far a wheel was turned, in notches: positive towards the user, at most three. */
export function wheelNotches({ deltaMode, deltaY }: WheelEvent): number {
    const notches = deltaMode === WheelEvent.DOM_DELTA_PIXEL ? deltaY / 100 : deltaY / 3;
    return Math.max(-3, Math.min(3, notches));
}

/** Draw with the browser's next frame, as an effect of what `_changed` reads; another change before it replaces it. */
export function drawNext(_changed: unknown, draw: () => void): () => void {
    const next = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(next);
}
