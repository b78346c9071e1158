/** A bound on how much is done at once: the others wait in their order. */
export class RequestSlots {
    #free: number;
    readonly #waiting: (() => void)[] = [];

    constructor(places: number) {
        this.#free = places;
    }

    /** Do it as soon as there is a place. */
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
