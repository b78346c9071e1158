/** An action of a form or a button: whether it is under way, and why it was refused, in the service's words. */
export class Attempt {
    busy = $state(false);
    trouble = $state('');

    /** Return whether the work has succeeded. */
    async doWork(work: () => Promise<unknown>): Promise<boolean> {
        [this.busy, this.trouble] = [true, ''];
        try {
            await work();
            return true;
        } catch (error) {
            this.trouble = (error as Error).message;
            return false;
        } finally {
            this.busy = false;
        }
    }
}
