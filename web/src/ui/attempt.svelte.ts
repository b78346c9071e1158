/** An action of a form or a button: whether it is under way, and why it was refused, in the service's words. */
export class Attempt {
    busy = $state(false);
    error = $state('');

    /** Return whether the work has succeeded. */
    async doWork(work: () => Promise<unknown>): Promise<boolean> {
        [this.busy, this.error] = [true, ''];
        try {
            await work();
            return true;
        } catch (error) {
            this.error = (error as Error).message;
            return false;
        } finally {
            this.busy = false;
        }
    }
}
