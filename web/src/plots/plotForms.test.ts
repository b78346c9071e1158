/** Corner plots and plots in space: quantities, panels, camera, sizes of pictures. */

import { describe, expect, test } from 'vitest';
import { layOutCorner, panelAt } from './corner/cornerLayout';
import { FIRST_CAMERA } from './table/camera';
import { defaultSettings } from './table/defaultSettings';
import { MemoryTable, number, words } from './points/memoryTable.fixture';
import { describeValues, describeValuesProblem, describeValuesStatus } from './table/plotDescription';
import { valuesCsv } from './table/valuesCsv';
import { changeUnit, findSizeProblem, layOutPicture, pixelsOf, type PictureSize } from './points/pictureSize';
import { quantityName, type PlotKind, type PlotSettings } from './points/plotSettings';
import { loadRowValues, type RowValues } from './table/rowValues';
import { cameraAfterKey, clipMatrix, projectionOf, projectPosition, turnCamera, zoomCamera } from './space/spaceCamera'; // prettier-ignore
import { SpaceGestures, type SpaceHost } from './space/spaceGestures';
import { nearestNumber } from './space/spaceRenderer';
import { forMixed, pointAtNumber } from './space/spaceScene';

const GAIA = [
    number('source_id', 'meta.id;meta.main'),
    number('ra', 'pos.eq.ra;meta.main', 'deg'),
    number('dec', 'pos.eq.dec;meta.main', 'deg'),
    number('parallax', 'pos.parallax', 'mas'),
    number('pmra', 'pos.pm;pos.eq.ra', 'mas/yr'),
    number('bp', 'phot.mag;em.opt.B', 'mag'),
    number('rp', 'phot.mag;em.opt.R', 'mag'),
    words('class', 'src.class'),
];
const STARS = new MemoryTable(GAIA, [
    [1, 2, 3, 4, 5],
    [0, 90, 180, 0, 10],
    [0, 0, 0, 90, 20],
    [10, 5, 100, 20, -1],
    [1, 2, 3, null, 5],
    [10, 11, 12, 13, 14],
    [9, 10, 11, 12, 13],
    ['a', 'b', 'a', 'a', 'b'],
]);

async function loaded(kind: PlotKind, changes: Partial<PlotSettings> = {}, table = STARS): Promise<RowValues> {
    const values = await loadRowValues(table, { ...defaultSettings(table.fields), kind, ...changes });
    if (values === 'columns') throw new Error('columns are missing');
    return values;
}

describe('the first quantities', () => {
    test('of a corner plot are colour, magnitude, parallax and proper motions', () => {
        const { axes } = defaultSettings(GAIA).corner;
        expect(axes.map((axis) => quantityName(GAIA, axis))).toEqual(['bp − rp', 'rp', 'parallax', 'pmra']);
    });
    test('are the first measurements where no UCD says more', () => {
        const plain = ['a', 'b', 'c', 'd'].map((name) => number(name));
        expect(defaultSettings(plain).corner.axes.map(({ column }) => column)).toEqual([0, 1, 2]);
        expect(defaultSettings(plain).space.axes.map(({ column }) => column)).toEqual([0, 1, 2]);
        expect(defaultSettings(plain).space.by).toBe('columns');
    });
    test('in space are positions with the parallax', () => {
        expect(defaultSettings(GAIA).space).toMatchObject({ by: 'positions', distance: 3 });
    });
});

describe('quantities of rows', () => {
    test('rows that lack one are left out and counted; magnitudes are reversed', async () => {
        const values = await loaded('corner');
        expect([...values.rows]).toEqual([0, 1, 2, 4]);
        expect(values.missing).toBe(1);
        const [low, high] = values.axes[1]!.range;
        expect(low).toBeGreaterThan(high);
        expect(describeValuesStatus(values, STARS)).toBe('4 points of 5 rows · 1 without a value');
        expect(describeValues(values, 0)).toMatch(/^Corner plot of bp − rp \[mag\], rp \[mag\], .*; 4 points\.$/);
        expect(await valuesCsv(values).text()).toContain('row,bp − rp,rp,parallax,pmra\r\n1,1,9,10,1\r\n');
    });
    test('positions are placed by their parallaxes, in parsec; rows with a parallax of 0 or less have none', async () => {
        const values = await loaded('space');
        expect([...values.rows]).toEqual([0, 1, 2, 3]);
        expect(values.notPositive).toBe(1);
        const position = (k: number) => values.axes.map((axis) => axis.values[k]!);
        for (const [k, expected] of [
            [100, 0, 0],
            [0, 200, 0],
            [-10, 0, 0],
            [0, 0, 50],
        ].entries())
            // prettier-ignore
            position(k).forEach((value, axis) => expect(value).toBeCloseTo(expected[axis]!, 9));
        expect(values.axes[0]!.label).toBe('x [pc]');
        // lengths are alike along each axis
        const spans = values.axes.map(({ range: [from, to] }) => to - from);
        expect(Math.max(...spans)).toBeCloseTo(Math.min(...spans), 9);
        expect(describeValuesStatus(values, STARS)).toContain('1 without a distance above 0');
    });
    test('without a distance they are on the unit sphere, in the frame shown', async () => {
        const { space } = defaultSettings(GAIA);
        const values = await loaded('space', { space: { ...space, distance: -1 }, frame: 'galactic' });
        for (let k = 0; k < 5; k++) expect(Math.hypot(...values.axes.map((axis) => axis.values[k]!))).toBeCloseTo(1, 9);
        // the north celestial pole is at l = 122.93, b = 27.13
        expect(values.axes[2]!.values[3]).toBeCloseTo(Math.sin((27.12825 * Math.PI) / 180), 6);
    });
    test('colours and sizes are by columns: the brightest are the largest', async () => {
        const { space } = defaultSettings(GAIA);
        const values = await loaded('space', { colour: 7, space: { ...space, sizes: 6 } });
        expect(values.shades).toMatchObject({ type: 'kinds', names: ['a', 'b'] });
        expect([...values.shades!.points]).toEqual([0, 1, 0, 0]);
        expect(values.sizes!.points[0]).toBe(255);
        expect(values.sizes!.points[3]).toBe(0);
        expect(values.sizes!.range).toEqual([12, 9]);
    });
    test('outliers do not set the axes', async () => {
        const many = Array.from({ length: 4000 }, (_, k) => (k === 7 ? 1e9 : k / 4000));
        const table = new MemoryTable([number('a'), number('b')], [many, many]);
        const settings = defaultSettings(table.fields);
        const values = await loaded('corner', {}, table);
        expect(values.beyond).toBe(1);
        expect(Math.max(...values.axes[0]!.range)).toBeLessThan(1.3);
        const whole = await loaded('corner', { corner: { ...settings.corner, trimmed: false } }, table);
        expect([whole.beyond, whole.rows.length]).toEqual([0, 4000]);
    });
    test('what is not chosen or has no rows is told', async () => {
        const one = new MemoryTable([number('a')], [[1]]);
        const nothing = await loadRowValues(one, { ...defaultSettings(one.fields), kind: 'corner' });
        expect(nothing).toBe('columns');
        expect(describeValuesProblem(nothing, one)).toContain('Choose a column');
        const apart = new MemoryTable([number('a'), number('b')], [[1, null], [null, 2]]); // prettier-ignore
        expect(describeValuesProblem(await loaded('corner', {}, apart), apart)).toContain('all of these columns');
    });
});

test('a corner plot has panels on and below the diagonal that share their axes', async () => {
    const values = await loaded('corner');
    const panels = layOutCorner(values, { width: 600, height: 400 });
    expect(panels.map(({ column, row }) => `${column}${row}`).join(' ')).toBe('00 01 11 02 12 22 03 13 23 33');
    const below = panels.filter(({ column }) => column === 1);
    expect(new Set(below.map(({ box }) => box.left)).size).toBe(1);
    expect(new Set(below.map(({ view }) => `${view.u0} ${view.u1}`)).size).toBe(1);
    const last = panels.at(-1)!.box;
    expect(last.left + last.width).toBeLessThanOrEqual(600);
    expect(last.top + last.height).toBeLessThan(400 - 40);
    expect(panelAt(panels, last.left + 1, last.top + 1)).toBe(panels.at(-1));
    expect(panelAt(panels, last.left + 1, 12)).toBeUndefined();
});

const SIZE = { width: 800, height: 500 };

describe('the camera', () => {
    test('WebGL and the pen put positions alike, and nearer ones are in front', () => {
        const by = projectionOf({ longitude: 37, latitude: -20, zoom: 1.7, across: 0.1, down: -0.2 }, SIZE);
        const matrix = clipMatrix(by);
        const clip = ([x, y, z]: number[]) => [0, 1, 2, 3].map((k) => matrix[k]! * x! + matrix[4 + k]! * y! + matrix[8 + k]! * z! + matrix[12 + k]!); // prettier-ignore
        for (const position of [
            [0, 0, 0],
            [1, -1, 1],
            [-0.3, 0.8, -1],
        ] as const) {
            const [a, b, c] = position;
            const [x, y, , w] = clip([a, b, c]);
            const [left, top, far] = projectPosition(by, a, b, c);
            expect(w).toBeCloseTo(far, 6);
            expect((x! / w! / 2 + 0.5) * SIZE.width).toBeCloseTo(left, 3);
            expect((0.5 - y! / w! / 2) * SIZE.height).toBeCloseTo(top, 3);
        }
        const depth = (along: number) => {
            const [, , z, w] = clip(by.front.map((part) => part * along));
            return z! / w!;
        };
        const depths = [1.74, 1, 0, -1, -1.74].map(depth);
        expect(depths).toEqual(depths.toSorted((one, other) => one - other));
        expect(depths[0]).toBeGreaterThan(-1);
        expect(depths.at(-1)).toBeLessThan(1);
    });
    test('z is up, and a drag to the right turns what is in front to the right', () => {
        const before = projectionOf(FIRST_CAMERA, SIZE);
        expect(projectPosition(before, 0, 0, 1)[1]).toBeLessThan(projectPosition(before, 0, 0, -1)[1]);
        const after = projectionOf(turnCamera(FIRST_CAMERA, 40, 0), SIZE);
        const [x, y, z] = before.front;
        expect(projectPosition(after, x, y, z)[0]).toBeGreaterThan(projectPosition(before, x, y, z)[0] + 10);
    });
    test('zooms around a position; keys turn, move and go back', () => {
        const zoomed = zoomCamera(FIRST_CAMERA, 2, SIZE, [500, 100]);
        const [before, after] = [FIRST_CAMERA, zoomed].map((camera) => projectionOf(camera, SIZE));
        expect(after!.x - 500).toBeCloseTo(2 * (before!.x - 500));
        expect(after!.y - 100).toBeCloseTo(2 * (before!.y - 100));
        expect(cameraAfterKey('0', zoomed, SIZE, false)).toBe(FIRST_CAMERA);
        expect(cameraAfterKey('ArrowLeft', FIRST_CAMERA, SIZE, true)!.across).toBeLessThan(0);
        expect(cameraAfterKey('ArrowUp', FIRST_CAMERA, SIZE, false)!.latitude).not.toBe(FIRST_CAMERA.latitude);
        expect(cameraAfterKey('x', FIRST_CAMERA, SIZE, false)).toBeUndefined();
    });
});

test('gestures turn, move with Shift, click, and brush with their tool', () => {
    const done: string[] = [];
    let [camera, brushes] = [FIRST_CAMERA, false];
    const host: SpaceHost = {
        get camera() {
            return camera;
        },
        get brushes() {
            return brushes;
        },
        size: SIZE,
        setCamera: (next) => {
            done.push(next.longitude !== camera.longitude ? 'turn' : next.across !== camera.across ? 'move' : 'zoom');
            camera = next;
        },
        brushTo: (line, manner) => done.push(`${manner} ${line.length}`),
        endBrush: (kept) => done.push(`end ${kept}`),
        clickAt: (x, y, several) => done.push(`click ${x} ${y} ${several}`),
        hoverAt: () => done.push('hover'),
    };
    const gestures = new SpaceGestures(host);
    const keys = { shiftKey: false, altKey: false, ctrlKey: false, metaKey: false };
    const drag = (held: Partial<typeof keys>, to: readonly [number, number], button = 0) => {
        done.length = 0;
        gestures.pointerDown(1, [10, 10], button, { ...keys, ...held });
        gestures.pointerMove(1, to, { ...keys, ...held });
        gestures.pointerUp(1, to, { ...keys, ...held });
        return done.join(', ');
    };
    expect(drag({}, [40, 10])).toBe('turn, end true');
    expect(drag({ shiftKey: true }, [40, 10])).toBe('move, end true');
    expect(drag({}, [40, 10], 2)).toBe('move, end true');
    expect(drag({ ctrlKey: true }, [11, 10])).toBe('click 11 10 true, end true');
    brushes = true;
    expect(drag({ altKey: true }, [40, 10])).toBe('remove 2, end true');
    done.length = 0;
    gestures.pointerDown(1, [10, 10], 0, keys);
    gestures.pointerDown(2, [20, 10], 0, keys);
    gestures.pointerMove(2, [30, 10], keys);
    expect(done[0]).toBe('end false');
    expect(camera.zoom).toBeCloseTo(2 * FIRST_CAMERA.zoom);
});

test('every beginning of the mixed order is a sample, and the order goes back', () => {
    for (const count of [1, 2, 10, 1000, 4096]) {
        const seen = new Set<number>();
        forMixed(count, (point, at) => {
            seen.add(point);
            expect(pointAtNumber(at, count)).toBe(point);
        });
        expect(seen.size).toBe(count);
    }
    const first: number[] = [];
    forMixed(1000, (point, at) => at < 100 && first.push(point));
    expect(first.filter((point) => point < 500).length).toBeGreaterThan(40);
    expect(first.filter((point) => point < 500).length).toBeLessThan(60);
});

test('the point nearest to the pointer is taken from the numbers around it', () => {
    const pixels = new Uint8Array(4 * 9);
    pixels.set([1, 0, 0, 255], 0);
    pixels.set([2, 1, 0, 255], 4 * 5);
    expect(nearestNumber(pixels, 3)).toBe(257);
    expect(nearestNumber(new Uint8Array(36), 3)).toBe(-1);
});

describe('the size of a picture', () => {
    const column: PictureSize = { width: 88, height: 66, unit: 'mm', dpi: 300, scale: 1 };
    test('88 mm at 300 dots per inch have 1039 pixels, with texts as large as on the page', () => {
        expect(pixelsOf(column)).toEqual({ width: 1039, height: 780 });
        const { size, ratio } = layOutPicture(column, 2);
        expect(size.width).toBeCloseTo(332.6, 1);
        expect(Math.round(size.width * ratio)).toBe(1039);
        const larger = layOutPicture({ ...column, scale: 1.5 }, 2);
        expect(larger.size.width * larger.ratio).toBeCloseTo(size.width * ratio, 6);
        expect(larger.size.width).toBeCloseTo(size.width / 1.5);
    });
    test('pixels are the pixels of the screen', () => {
        const { size, ratio } = layOutPicture({ ...column, width: 800, height: 600, unit: 'px' }, 2);
        expect([size.width, size.height, ratio]).toEqual([400, 300, 2]);
    });
    test('another unit keeps the size on paper', () => {
        expect(changeUnit(column, 'in')).toMatchObject({ unit: 'in', width: 3.46, height: 2.6 });
        expect(changeUnit(changeUnit(column, 'px'), 'mm')).toMatchObject({ width: 88, height: 66 });
    });
    test('what cannot be drawn is told', () => {
        expect(findSizeProblem(column, 1)).toBeUndefined();
        expect(findSizeProblem({ ...column, dpi: NaN }, 1)).toBe('numbers');
        expect(findSizeProblem({ ...column, width: 10 }, 1)).toBe('small');
        expect(findSizeProblem({ ...column, dpi: 3000 }, 1)).toBe('large');
    });
});
