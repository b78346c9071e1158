import { expect, test } from 'vitest';
import type { Filter } from '../model/resultModel';
import { instants, number, words } from './memoryTable.fixture';
import { pyLabel, pyNumber, readQuantity, writeHead, writePoints } from './pythonParts';

const FIELDS = [number('ra'), words('a "b"\\'), number('ra'), instants('seen'), number('mag', 'phot.mag', 'mag')];
const head = (filters: readonly Filter[], columns: readonly number[] = [4]) => writeHead({ fields: FIELDS, filters }, columns); // prettier-ignore

test('columns are read by name, by place where several have the name, instants as MJD', () => {
    expect(readQuantity(FIELDS, { column: 4, minus: -1 })).toBe('numbers("mag")');
    expect(readQuantity(FIELDS, { column: 4, minus: 2 })).toBe('numbers("mag") - numbers(rows.colnames[2])');
    expect(readQuantity(FIELDS, { column: 3, minus: -1 })).toBe('instants("seen")');
});

test('filters of the table leave the same rows', () => {
    const written = head([
        { column: 4, min: 5 },
        { column: 1, contains: 'It\'s "X"' },
    ]);
    expect(written).toContain('shown &= numbers("mag") >= 5\n');
    expect(written).toContain('shown &= np.char.find(np.char.lower(words("a \\"b\\"\\\\")), "it\'s \\"x\\"") >= 0');
    expect(written).not.toContain('astropy');
    expect(head([{ column: 3, max: 57388 }])).toContain('from astropy.time import Time');
});

test('numbers and labels are as Python and matplotlib read them', () => {
    expect([0.1 + 0.2, NaN, -Infinity, 1e-30].map(pyNumber)).toEqual(['0.3', 'np.nan', '-np.inf', '1e-30']);
    expect(pyLabel('a $b$')).toBe('"a \\\\$b\\\\$"');
});

test('kinds have their colours; rows of others share the last', () => {
    const shades = { type: 'kinds', points: new Uint8Array(3), names: ['G', ''], others: true } as const;
    const lines = writePoints({ fields: FIELDS, filters: [] }, shades, 1, (mask, options) => `draw(${mask}, ${options})`, String).join('\n'); // prettier-ignore
    expect(lines).toMatch(/\("G", "#[0-9a-f]{6}", kind == "G"\)/);
    expect(lines).toMatch(/\("\(none\)", "#[0-9a-f]{6}", kind == ""\)/);
    expect(lines).toContain('draw(good & members, color=colour, label=name)');
    expect(lines).toMatch(/draw\(rest, color="#[0-9a-f]{6}", label="others"\)/);
});
