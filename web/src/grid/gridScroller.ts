/**
 * Scrolls over more rows than an element can be high: browsers limit elements to 16 to 33 million pixels. Small moves
 * of the bar (wheel, finger, keys) move the rows by as many pixels, large ones (dragging) to the same fraction.
 */

/** Greatest height of the scrolled element, in pixels. */
export const MAX_HEIGHT = 8_000_000;

export class GridScroller {
    /** pixels above the first visible row, as if the element held all rows */
    top = 0;
    /** position of the browser's bar, in pixels */
    bar = 0;
    #rows = 0;
    #seen = 0;

    constructor(readonly rowHeight: number) {}

    /** Set the number of rows and the visible height in pixels. */
    setSize(rows: number, seen: number): void {
        [this.#rows, this.#seen] = [rows, seen];
        this.top = Math.min(this.top, this.#last);
    }

    /** The height of the scrolled element. */
    get height(): number {
        return Math.min(this.#rows * this.rowHeight, MAX_HEIGHT);
    }

    get #last(): number {
        return Math.max(0, this.#rows * this.rowHeight - this.#seen);
    }

    get #lastBar(): number {
        return Math.max(0, this.height - this.#seen);
    }

    /** Follow the bar to `bar`. */
    followBar(bar: number): void {
        const step = bar - this.bar;
        this.bar = bar;
        if (this.#last === this.#lastBar || bar <= 0) this.top = Math.max(0, bar);
        else if (bar >= this.#lastBar - 1) this.top = this.#last;
        else if (Math.abs(step) <= 2 * this.#seen) this.top = Math.min(Math.max(0, this.top + step), this.#last);
        else this.top = (bar / this.#lastBar) * this.#last;
    }

    /** Go to `top`. Return the bar's new position. */
    scrollTo(top: number): number {
        this.top = Math.min(Math.max(0, top), this.#last);
        return this.settleBar();
    }

    /** Return the bar's position for the visible rows: many small moves take it elsewhere. */
    settleBar(): number {
        this.bar = this.#last ? Math.round((this.top / this.#last) * this.#lastBar) : 0;
        return this.bar;
    }

    /** Scroll just enough to show an index. Return the bar's new position. */
    revealRow(index: number): number {
        const start = index * this.rowHeight;
        if (start < this.top) return this.scrollTo(start);
        if (start + this.rowHeight > this.top + this.#seen) return this.scrollTo(start + this.rowHeight - this.#seen);
        return this.bar;
    }

    /** The indexes to draw, [from, to). */
    get indexes(): [from: number, to: number] {
        const from = Math.floor(this.top / this.rowHeight);
        return [from, Math.min(this.#rows, Math.ceil((this.top + this.#seen) / this.rowHeight))];
    }

    /** Number of completely visible rows. */
    get page(): number {
        return Math.max(1, Math.floor(this.#seen / this.rowHeight) - 1);
    }

    /** Return the position of an index in the element. */
    rowTop(index: number): number {
        return this.bar + index * this.rowHeight - this.top;
    }
}
