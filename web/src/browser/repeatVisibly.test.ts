import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { repeatVisibly } from './repeatVisibly';

class FakeDocument extends EventTarget {
    hidden = false;

    show(isShown: boolean): void {
        this.hidden = !isShown;
        this.dispatchEvent(new Event('visibilitychange'));
    }
}

let page: FakeDocument;
beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal('document', (page = new FakeDocument()));
});
afterEach(() => vi.useRealTimers());

it('works now and again, until it is ended', async () => {
    const work = vi.fn(() => Promise.resolve());
    const end = repeatVisibly(work, 10);
    expect(work).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(25_000);
    expect(work).toHaveBeenCalledTimes(3);
    end();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(work).toHaveBeenCalledTimes(3);
});

it('rests while the page is hidden, and works at once when it is in sight again', async () => {
    const work = vi.fn(() => Promise.resolve());
    const end = repeatVisibly(work, 10);
    await vi.advanceTimersByTimeAsync(1000);
    page.show(false);
    page.show(true);
    expect(work, 'nothing was due').toHaveBeenCalledTimes(1);
    page.show(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(work).toHaveBeenCalledTimes(1);
    page.show(true);
    expect(work).toHaveBeenCalledTimes(2);
    end();
});

it('waits for slow work before the next turn', async () => {
    const work = vi.fn(() => new Promise((resolve) => setTimeout(resolve, 30_000)));
    const end = repeatVisibly(work, 10);
    await vi.advanceTimersByTimeAsync(39_000);
    expect(work).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(2000);
    expect(work).toHaveBeenCalledTimes(2);
    end();
});
