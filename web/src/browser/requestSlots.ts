/** A bound on concurrent work; the rest waits in order. */
export class RequestSlots {
    #free: number;
    readonly #waiting: (() => void)[] = [];

    constructor(slots: number) {
        this.#free = slots;
    }

    /** Run the work as soon as a slot is free. */
    async runInSlot<T>(work: () => Promise<T>): Promise<T> {
        if (this.#free > 0) this.#free--;
        else await new Promise<void>((resolve) => this.#waiting.push(resolve));
        try {
            return await work();
        } finally {
            const next = this.#waiting.shift();
            if (next) next();
            else this.#free++;
        }
    }
}
