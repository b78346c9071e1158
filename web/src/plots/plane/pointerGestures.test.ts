import type { PlanePosition } from '../../canvas/plotView';
import { describe, expect, test, vi } from 'vitest';
import { chosenRows, lassoArea, rectangleArea, thinLine, type Area } from '../points/pointSelection';
import { PointIndex } from '../points/nearestPoint';
import { planePoints } from '../points/plotPoints';
import { viewAfterKey, PointerGestures, type GestureHost } from './pointerGestures';
import { rangeOf, withRange } from './axisRange';
import {
    viewBetween,
    equalizeScales,
    moveView,
    roundToPixel,
    uAt,
    vAt,
    xOnScreen,
    yOnScreen,
    zoomView,
} from '../../canvas/plotView';

const BOX = { left: 10, top: 20, width: 200, height: 100 };
const VIEW = { u0: 0, u1: 20, v0: 0, v1: 10 };
const grid = planePoints(
    Uint32Array.from({ length: 100 }, (_, k) => k),
    { values: Float64Array.from({ length: 100 }, (_, k) => k % 10), log: false },
    { values: Float64Array.from({ length: 100 }, (_, k) => Math.floor(k / 10)), log: false },
);

describe('views', () => {
    test('positions and values', () => {
        expect([xOnScreen(VIEW, BOX, 10), yOnScreen(VIEW, BOX, 0), yOnScreen(VIEW, BOX, 10)]).toEqual([110, 120, 20]);
        expect([uAt(VIEW, BOX, 110), vAt(VIEW, BOX, 120)]).toEqual([10, 0]);
        expect(xOnScreen({ ...VIEW, u0: 20, u1: 0 }, BOX, 20)).toBe(10);
    });
    test('what is under the pointer stays there', () => {
        const near = zoomView(VIEW, BOX, 0.1, 60, 45);
        expect(uAt(near, BOX, 60)).toBeCloseTo(uAt(VIEW, BOX, 60), 12);
        expect(vAt(near, BOX, 45)).toBeCloseTo(vAt(VIEW, BOX, 45), 12);
        expect(near.u1 - near.u0).toBeCloseTo(2, 12);
        expect(zoomView(VIEW, BOX, 0.5, 60, 45, { u: true, v: false }).v1).toBe(10);
    });
    test('never finer than numbers can tell, never endless', () => {
        let view = { u0: 1000, u1: 1001, v0: 0, v1: 1 };
        for (let k = 0; k < 200; k++) view = zoomView(view, BOX, 0.5, 100, 50);
        expect(view.u1).toBeGreaterThan(view.u0);
        for (let k = 0; k < 5000; k++) view = zoomView(view, BOX, 2, 100, 50);
        expect(Number.isFinite(view.u1 - view.u0)).toBe(true);
    });
    test('a push moves the picture with the pointer, reversed axes too', () => {
        for (const view of [VIEW, { u0: 20, u1: 0, v0: 10, v1: 0 }]) {
            const pushed = moveView(view, BOX, 30, -10);
            expect(xOnScreen(pushed, BOX, 5)).toBeCloseTo(xOnScreen(view, BOX, 5) + 30, 9);
            expect(yOnScreen(pushed, BOX, 5)).toBeCloseTo(yOnScreen(view, BOX, 5) - 10, 9);
        }
    });
    test('a box drawn either way is the same view; one without size changes nothing', () => {
        expect(viewBetween(VIEW, BOX, [110, 70], [60, 45])).toEqual(viewBetween(VIEW, BOX, [60, 45], [110, 70]));
        expect(viewBetween(VIEW, BOX, [60, 45], [60, 45])).toBe(VIEW);
    });
    test('maps have the same scale both ways', () => {
        const view = equalizeScales({ u0: -2, u1: 2, v0: -1, v1: 1 }, { ...BOX, height: 50 });
        expect((view.u1 - view.u0) / 200).toBeCloseTo((view.v1 - view.v0) / 50, 12);
        expect(view.v1).toBe(1);
    });
    test('numbers as short as pixels allow', () => {
        expect(roundToPixel(3.141592, 0.03, false)).toBe(3.14);
        expect(roundToPixel(31415.92, 250, false)).toBe(31400);
        expect(10 ** roundToPixel(Math.log10(3.14159), 0.01, true)).toBeCloseTo(3.14, 12);
        expect(roundToPixel(5, 0, false)).toBe(5);
    });
    test('ranges that are typed', () => {
        expect(rangeOf({ ...VIEW, v0: 2, v1: 1 }, 'v', true)).toEqual({ min: 10, max: 100 });
        expect(withRange({ ...VIEW, u0: 20, u1: 0 }, 'u', { min: 3, max: 4 }, false)).toEqual({
            ...VIEW,
            u0: 4,
            u1: 3,
        });
        expect(withRange(VIEW, 'u', { min: 4, max: 3 }, false)).toBeUndefined();
        expect(withRange(VIEW, 'u', { min: -1, max: 3 }, true)).toBeUndefined();
        expect(withRange(VIEW, 'u', { min: NaN, max: 3 }, false)).toBeUndefined();
    });
});

/** Whether a position is chosen by an area. */
const testOf = (area: Area) => (u: number, v: number) => {
    const points = { ...grid, rows: Uint32Array.of(0), u: Float64Array.of(u), v: Float64Array.of(v), count: 1 };
    return chosenRows(points, area, 1, undefined, 'new') !== undefined;
};

describe('brushes', () => {
    test('a rectangle has its edges', () => {
        const rows = chosenRows(grid, rectangleArea([4, 1], [2, 3]), 100, undefined, 'new')!;
        expect([...rows.keys()].filter((row) => rows[row])).toEqual([12, 13, 14, 22, 23, 24, 32, 33, 34]);
    });
    test('a lasso, concave and crossing itself', () => {
        const horseshoe: PlanePosition[] = [[0, 0], [10, 0], [10, 10], [7, 10], [7, 3], [3, 3], [3, 10], [0, 10]]; // prettier-ignore
        const inside = testOf(lassoArea(horseshoe));
        expect([inside(1, 8), inside(9, 8), inside(5, 8), inside(5, 1), inside(11, 5), inside(5, -1)]).toEqual([true, true, false, true, false, false]); // prettier-ignore
        const bow = testOf(lassoArea([[0, 0], [10, 10], [10, 0], [0, 10]])); // prettier-ignore
        expect([bow(1, 5), bow(9, 5), bow(5, 9), bow(5, 1)]).toEqual([true, true, false, false]);
    });
    test('a lasso agrees with a circle, however many sides it has', () => {
        const sides = Array.from({ length: 720 }, (_, k): PlanePosition => [Math.cos(k / 114.6), Math.sin(k / 114.6)]);
        const around = testOf(lassoArea(sides));
        for (let k = 0; k < 2000; k++) {
            const [u, v] = [Math.sin(k * 12.9898) * 1.3, Math.cos(k * 78.233) * 1.3];
            if (Math.abs(Math.hypot(u, v) - 1) > 1e-3) expect(around(u, v)).toBe(Math.hypot(u, v) < 1);
        }
    });
    test('of less than three positions is nothing', () => {
        expect(testOf(lassoArea([[0, 0], [1, 1]]))(0.5, 0.5)).toBe(false); // prettier-ignore
        expect(testOf(lassoArea([[0, 0], [1, 0], [2, 0]]))(1, 0)).toBe(false); // prettier-ignore
    });
    test('add to and take from what is chosen', () => {
        const before = chosenRows(grid, rectangleArea([0, 0], [1, 0]), 100, undefined, 'new');
        const more = chosenRows(grid, rectangleArea([3, 0], [3, 0]), 100, before, 'add')!;
        expect([0, 1, 2, 3].map((row) => more[row])).toEqual([1, 1, 0, 1]);
        const less = chosenRows(grid, rectangleArea([0, 0], [1, 0]), 100, more, 'remove')!;
        expect([0, 1, 3].map((row) => less[row])).toEqual([0, 0, 1]);
        expect(chosenRows(grid, rectangleArea([50, 50], [60, 60]), 100, undefined, 'new')).toBeUndefined();
    });
    test('lines lose positions that are too near', () => {
        expect(thinLine([[0, 0], [0.5, 0], [1, 0], [5, 0]], 2)).toEqual([[0, 0], [5, 0]]); // prettier-ignore
    });
});

describe('the nearest point', () => {
    const index = new PointIndex(grid, VIEW, BOX);
    test('within reach', () => {
        expect(index.findPoint(xOnScreen(VIEW, BOX, 4) + 2, yOnScreen(VIEW, BOX, 3) - 2, 10)).toBe(34);
        expect(index.findPoint(xOnScreen(VIEW, BOX, 15), yOnScreen(VIEW, BOX, 3), 10)).toBe(-1);
    });
    test('agrees with a search of all', () => {
        for (let k = 0; k < 300; k++) {
            const [x, y] = [10 + ((k * 37) % 200), 20 + ((k * 61) % 100)];
            const away = (point: number) =>
                Math.hypot(xOnScreen(VIEW, BOX, grid.u[point]!) - x, yOnScreen(VIEW, BOX, grid.v[point]!) - y);
            const least = Math.min(...[...grid.u.keys()].map(away));
            const found = index.findPoint(x, y, 15);
            if (found < 0) expect(least).toBeGreaterThan(15);
            else expect(away(found)).toBeCloseTo(least, 9);
        }
    });
    test('on reversed axes', () => {
        const turned = { u0: 20, u1: 0, v0: 10, v1: 0 };
        expect(
            new PointIndex(grid, turned, BOX).findPoint(xOnScreen(turned, BOX, 4), yOnScreen(turned, BOX, 3), 5),
        ).toBe(34);
    });
});

describe('pointers', () => {
    const event = {} as PointerEvent;
    function host(tool: GestureHost['tool'], flat = false) {
        return { box: BOX, view: VIEW, tool, flat, setView: vi.fn(), sketchLine: vi.fn(), brushRows: vi.fn(), endBrush: vi.fn(), clickAt: vi.fn(), hoverAt: vi.fn(), settleView: vi.fn() }; // prettier-ignore
    }
    test('a drag moves, a short one is a click', () => {
        const on = host('move');
        const pointing = new PointerGestures(on);
        pointing.pointerMove(1, 50, 50, event);
        expect(on.hoverAt).toHaveBeenCalledWith(50, 50);
        pointing.pointerDown(1, 50, 50);
        pointing.pointerMove(1, 52, 50, event);
        pointing.pointerUp(1, 52, 50, event);
        expect(on.setView).not.toHaveBeenCalled();
        expect(on.clickAt).toHaveBeenCalledOnce();
        pointing.pointerDown(1, 50, 50);
        pointing.pointerMove(1, 80, 50, event);
        pointing.pointerUp(1, 80, 50, event);
        expect(on.setView).toHaveBeenCalledWith(moveView(VIEW, BOX, 30, 0));
        expect(on.clickAt).toHaveBeenCalledOnce();
        expect(on.settleView).toHaveBeenCalledTimes(2);
    });
    test('boxes and lines are given when they are done; on a histogram over its height', () => {
        const on = host('rectangle', true);
        const pointing = new PointerGestures(on);
        pointing.pointerDown(1, 50, 50);
        pointing.pointerMove(1, 90, 60, event);
        pointing.pointerUp(1, 90, 60, event);
        expect(on.brushRows).toHaveBeenCalledWith('rectangle', [[50, 20], [90, 120]], event); // prettier-ignore
        const lasso = host('lasso');
        const drawing = new PointerGestures(lasso);
        drawing.pointerDown(1, 50, 50);
        for (const [x, y] of [[60, 50], [60, 60], [50, 60]] as const) drawing.pointerMove(1, x, y, event); // prettier-ignore
        drawing.pointerUp(1, 50, 60, event);
        expect(lasso.brushRows).toHaveBeenCalledWith('lasso', [[50, 50], [60, 50], [60, 60], [50, 60]], event); // prettier-ignore
    });
    test('two fingers zoom, and are no click', () => {
        const on = host('rectangle');
        const pointing = new PointerGestures(on);
        pointing.pointerDown(1, 50, 70);
        pointing.pointerDown(2, 90, 70);
        pointing.pointerMove(2, 130, 70, event);
        const [view] = on.setView.mock.lastCall!;
        expect(view.u1 - view.u0).toBeCloseTo(10, 9);
        pointing.pointerUp(2, 130, 70, event);
        pointing.pointerUp(1, 50, 70, event);
        expect(on.clickAt).not.toHaveBeenCalled();
        expect(on.brushRows).not.toHaveBeenCalled();
    });
    test('a pointer that is taken away leaves nothing behind', () => {
        const on = host('zoom');
        const pointing = new PointerGestures(on);
        pointing.pointerDown(1, 50, 50);
        pointing.pointerMove(1, 90, 90, event);
        pointing.pointerCancel(1);
        pointing.pointerUp(1, 90, 90, event);
        expect(on.setView).not.toHaveBeenCalled();
        expect(on.sketchLine).toHaveBeenLastCalledWith(undefined);
    });
    test('keys', () => {
        expect(viewAfterKey('ArrowRight', VIEW, BOX, false)).toEqual(moveView(VIEW, BOX, -40, 0));
        expect(viewAfterKey('ArrowUp', VIEW, BOX, true)).toEqual(VIEW);
        expect(viewAfterKey('0', VIEW, BOX, false)).toBe('all');
        expect(viewAfterKey('x', VIEW, BOX, false)).toBeUndefined();
        expect(viewAfterKey('+', VIEW, BOX, true)).toMatchObject({ v0: 0, v1: 10 });
    });
});
