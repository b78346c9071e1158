import { describe, expect, test } from 'vitest';
import { AUTOMATIC } from '../points/layerSettings';
import { moveColumns } from '../../model/columnMoves';
import type { Field } from '../../model/resultModel';
import { repeatSteps, keepStep, findSteps, noteBrush } from './brushSteps';
import { defaultSettings } from './defaultSettings';
import { findColumn, keepSettings, moveSettings, nameColumn, readSettings } from './keptSettings';
import { MemoryTable, number, words } from '../points/memoryTable.fixture';
import type { PlotSettings } from '../points/plotSettings';

const FIELDS = [number('x'), number('y'), number('b'), number('v'), words('type')];
const axis = (column: number, minus = -1) => ({ column, minus, log: false, reversed: undefined });
const usual = defaultSettings(FIELDS);
const copied = (json: unknown): unknown => JSON.parse(JSON.stringify(json));

function changed(changes: Partial<PlotSettings>): PlotSettings {
    return { ...usual, ...changes };
}

describe('settings by name', () => {
    test('only what differs from the default is kept', () => {
        expect(keepSettings(usual, FIELDS)).toEqual({});
        const settings = changed({ kind: 'density', axes: { ...usual.axes, x: axis(2, 3) }, colour: 4, centre: 12 });
        expect(keepSettings(settings, FIELDS)).toEqual({
            kind: 'density',
            axes: { x: { column: 'b', minus: 'v', log: false } },
            colour: 'type',
            centre: 12,
        });
    });
    test('come back as they were, also when columns have moved', () => {
        const settings = changed({
            kind: 'histogram',
            axes: { ...usual.axes, value: { ...axis(3), log: true, reversed: true } },
            bins: 30,
        });
        const kept = copied(keepSettings(settings, FIELDS));
        expect(readSettings(kept, FIELDS)).toEqual({ settings, unknown: [] });
        const moved = [FIELDS[3]!, ...FIELDS.slice(0, 3)];
        expect(readSettings(kept, moved).settings.axes.value).toMatchObject({ column: 0, log: true });
    });
    test('unknown columns and kinds leave the default, and are named', () => {
        const kept = {
            kind: 'pie',
            axes: { x: { column: 'gone', minus: 'b', log: true } },
            colour: 'type',
            error: 'e',
        };
        const { settings, unknown } = readSettings(kept, FIELDS);
        expect(settings).toEqual(changed({ colour: 4 }));
        expect(unknown).toEqual(['pie', 'gone', 'e']);
    });
    test('nonsense changes nothing', () => {
        const nonsense = { size: 'large', bins: { a: 1 }, logCounts: 1, axes: [1], frame: null, centre: 'x', other: 3 };
        for (const kept of [null, 7, 'x', [], nonsense])
            expect(readSettings(copied(kept), FIELDS).settings).toEqual(usual);
    });
    test('layers and overlays come back', () => {
        const overlay = { table: 'tab', title: 'Other', axes: { x: { column: 'ra', minus: '' } } };
        const layers = {
            ...usual.layers,
            xError: AUTOMATIC,
            yError: 3,
            statistic: 'median',
            overlays: [overlay],
        } as const;
        const kept = copied(keepSettings(changed({ layers }), FIELDS));
        expect(kept).toEqual({
            layers: { xError: AUTOMATIC, yError: 'v', statistic: 'median', overlays: [overlay] },
        });
        expect(readSettings(kept, FIELDS)).toEqual({ settings: changed({ layers }), unknown: [] });
        const nonsense = {
            layers: { overlays: [null, 3, { table: 1 }, { ...overlay, axes: { x: 'ra' } }], statistic: 'sum' },
        };
        const { settings } = readSettings(nonsense, FIELDS);
        expect(settings.layers).toEqual({ ...usual.layers, overlays: [{ ...overlay, axes: {} }] });
    });
    test('follow their columns when others are removed', () => {
        // b is removed; x, y and v are shown
        const after = FIELDS.filter(({ name }) => name !== 'b');
        const settings = changed({
            axes: { ...usual.axes, x: axis(3, 2), y: axis(3, 1) },
            colour: 4,
            layers: { ...usual.layers, xError: 2, yError: 3, yErrorUp: AUTOMATIC },
            corner: { ...usual.corner, axes: [axis(3), axis(2), axis(1)] },
            space: { ...usual.space, axes: [axis(3), axis(0), axis(1)], distance: 2, sizes: 3 },
        });
        const { axes, colour, layers, corner, space } = moveSettings(settings, moveColumns(FIELDS, after));
        expect([axes.x, axes.y, colour]).toEqual([axis(2, -1), axis(2, 1), 3]);
        expect(layers).toMatchObject({ xError: -1, yError: 2, yErrorUp: AUTOMATIC });
        expect(corner.axes.map(({ column }) => column)).toEqual([2, -1, 1]);
        expect(space).toMatchObject({ distance: -1, sizes: 2 });
        expect(space.axes.map(({ column }) => column)).toEqual([2, 0, 1]);
    });
    test('columns of the same name are told apart', () => {
        const same: Field[] = [number('ra'), number('dec'), number('ra')];
        expect(nameColumn(same, 2)).toEqual(['ra', 1]);
        expect(findColumn(same, ['ra', 1])).toBe(2);
        expect(findColumn(same, 'ra')).toBe(0);
        expect(findColumn(same, null)).toBe(-1);
        expect(findColumn(same, 'none')).toBeUndefined();
    });
});

describe('brushes', () => {
    const fields = FIELDS.slice(0, 2);
    const table = () => new MemoryTable(fields, [[1, 2, 3, 4], [1, 2, 3, 4]]); // prettier-ignore
    const settings = { ...defaultSettings(fields), kind: 'scatter' } as const;
    const box = (low: number, high: number) => ({ tool: 'rectangle', positions: [[low, low], [high, high]] }) as const; // prettier-ignore

    test('are repeated on other rows, with those that were added', async () => {
        const [first, second] = [Uint8Array.of(1, 1, 0, 0), Uint8Array.of(1, 1, 0, 1)];
        noteBrush(first, { manner: 'new', drawn: box(0.5, 2.5), settings, fields }, undefined);
        noteBrush(second, { manner: 'add', drawn: box(3.5, 9), settings, fields }, first);
        const kept = copied(findSteps(second)!.map(keepStep)) as never;
        const again = table();
        expect(await repeatSteps(again, kept)).toEqual([]);
        expect([...again.chosen!]).toEqual([1, 1, 0, 1]);
        // what was repeated can be kept again
        expect(copied(findSteps(again.chosen!)!.map(keepStep))).toEqual(kept);
    });
    test('of columns that are gone choose nothing', async () => {
        const gone = [
            {
                manner: 'new',
                tool: 'rectangle',
                places: box(0, 9).positions,
                settings: { axes: { x: { column: 'z', minus: null } } },
            },
        ] as const;
        const other = table();
        expect(await repeatSteps(other, gone)).toEqual(['z']);
        expect(other.chosen).toBeUndefined();
        expect(await repeatSteps(other, [{ ...gone[0], settings: {}, places: [['a', 1]] } as never])).toEqual([]);
        expect(other.chosen).toBeUndefined();
    });
    test('mean the columns that they were drawn with, also when one of those is removed', () => {
        const rows = Uint8Array.of(1);
        const drawnWith = [number('gone'), ...fields];
        const axes = { ...settings.axes, x: axis(1), y: axis(2) };
        noteBrush(
            rows,
            { manner: 'new', drawn: box(0, 1), settings: { ...settings, axes }, fields: drawnWith },
            undefined,
        );
        expect(keepStep(findSteps(rows)![0]!).settings).toMatchObject({
            axes: { x: { column: 'x' }, y: { column: 'y' } },
        });
    });
    test('rows chosen in another way have no steps', () => {
        const [by, hand] = [Uint8Array.of(1), Uint8Array.of(1)];
        noteBrush(by, { manner: 'add', drawn: box(0, 1), settings, fields }, hand);
        expect(findSteps(by)).toBeUndefined();
    });
});
