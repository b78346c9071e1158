import { expect, test } from 'vitest';
import { FrameQueue } from './frameQueue';

function makeQueue() {
    let next: (() => void) | undefined;
    const queue = new FrameQueue((draw) => {
        next = draw;
        return 1;
    });
    const runFrame = (): boolean => {
        const draw = next;
        next = undefined;
        draw?.();
        return draw !== undefined;
    };
    return { queue, runFrame };
}

const drawFor = (drawn: string[], name: string, milliseconds: number) => () => {
    const start = performance.now();
    while (performance.now() - start < milliseconds);
    drawn.push(name);
};

test('the brushed plot is drawn in each frame, slow others in turn', () => {
    const { queue, runFrame } = makeQueue();
    const drawn: string[] = [];
    for (let frame = 0; frame < 2; frame++) {
        queue.request('one', drawFor(drawn, 'one', 20), false);
        queue.request('other', drawFor(drawn, 'other', 20), false);
        queue.request('brushed', drawFor(drawn, 'brushed', 1), true);
        runFrame();
    }
    expect(drawn).toEqual(['brushed', 'one', 'brushed', 'other']);
    while (runFrame());
    expect(drawn.slice(4)).toEqual(['one']);
});

test('quick ones are drawn together, each once', () => {
    const { queue, runFrame } = makeQueue();
    const drawn: string[] = [];
    for (const name of ['a', 'b', 'a', 'c']) queue.request(name, drawFor(drawn, name, 0), false);
    runFrame();
    expect(drawn).toEqual(['a', 'b', 'c']);
    expect(runFrame()).toBe(false);
});

test('nothing is drawn for one that goes', () => {
    const { queue, runFrame } = makeQueue();
    const drawn: string[] = [];
    queue.request('urgent', drawFor(drawn, 'urgent', 0), true);
    queue.request('other', drawFor(drawn, 'other', 0), false);
    queue.request('stays', drawFor(drawn, 'stays', 0), false);
    for (const name of ['urgent', 'other']) queue.cancel(name);
    runFrame();
    expect(drawn).toEqual(['stays']);
});
