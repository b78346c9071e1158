/**
 * Do `work` now and then again `seconds` after each end, but not while the page is hidden: then at once when it is
 * visible again. Return the function that stops it.
 */
export function repeatVisibly(work: () => Promise<unknown>, seconds: number): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let [isWorking, isOver, isDue] = [false, false, true];

    const turn = async (): Promise<void> => {
        if (isOver || isWorking || document.hidden) return;
        clearTimeout(timer);
        [isWorking, isDue] = [true, false];
        try {
            await work();
        } finally {
            isWorking = false;
            if (!isOver) timer = setTimeout(() => ((isDue = true), void turn()), seconds * 1000);
        }
    };
    const handleSight = (): void => {
        if (isDue) void turn();
    };

    document.addEventListener('visibilitychange', handleSight);
    void turn();
    return () => {
        isOver = true;
        clearTimeout(timer);
        document.removeEventListener('visibilitychange', handleSight);
    };
}
