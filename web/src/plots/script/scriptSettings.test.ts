import { expect, test } from 'vitest';
import type { Filter } from '../../model/resultModel';
import { instants, number, words } from '../points/memoryTable.fixture';
import type { Shades } from '../points/pointShades';
import { commonSettings, escapeLabel, quantityOf } from './scriptSettings';
import { writeScript } from './writeScript';

const FIELDS = [number('ra'), words('a "b"\\'), number('ra'), instants('seen'), number('mag', 'phot.mag', 'mag')];
const common = (filters: readonly Filter[], shades?: Shades, colour = -1) =>
    commonSettings('scatter', { fields: FIELDS, filters }, shades, colour);

test('columns are read by name, by index where several have the name, instants as MJD', () => {
    const read = (column: number, minus = -1) => quantityOf(FIELDS, { column, minus, log: false });
    expect(read(4)).toEqual({ column: { kind: 'number', name: 'mag' }, minus: null, log: false });
    expect(read(4, 2).minus).toEqual({ kind: 'number', index: 2 });
    expect(read(3).column).toEqual({ kind: 'time', name: 'seen' });
});

test('filters of the table leave the same rows', () => {
    const rows = { column: -1, rows: new Uint8Array(), title: 'mine' } as const;
    const mag = { kind: 'number', name: 'mag' };
    expect(
        common([
            { column: 4, min: 5 },
            { column: 1, contains: 'It\'s "X"' },
            { column: 4, noneOf: ['1.5', null] },
        ]).filters,
    ).toEqual([
        { column: mag, min: 5, max: null },
        { column: { kind: 'text', name: 'a "b"\\' }, contains: 'it\'s "x"' },
        { column: mag, excluded: true, values: [1.5], missing: true },
    ]);
    expect(() => common([rows])).toThrow('mine');
});

test('any text is in the script as it is', () => {
    const texts = ['it\'s "quoted"', 'three """ quotes', 'ends with "', 'back\\slash\\', '\u00e9\u{1f600}\0\r\n'];
    const [, written] = /show_plot\(rows, r"""(.*)"""\)$/s.exec(writeScript({ texts }))!;
    expect(JSON.parse(written!)).toEqual({ texts });
    expect(written).not.toContain('"""');
});

test('labels are as matplotlib reads them', () => {
    expect(escapeLabel('a $b$')).toBe('a \\$b\\$');
});

test('kinds have their colours; rows of others share the last', () => {
    const { colour } = common([], { type: 'kinds', points: new Uint8Array(3), names: ['G', ''], others: true }, 1);
    const hex = expect.stringMatching(/^#[0-9a-f]{6}$/);
    expect(colour).toMatchObject({
        kinds: [
            { label: 'G', values: ['G'], missing: false, colour: hex },
            { label: '(none)', values: [], missing: true, colour: hex },
        ],
        others: hex,
    });
});
