import { expect, test } from 'vitest';
import { describeFilter, parseCondition } from '../grid/typedCondition';
import type { Field } from '../model/resultModel';
import { filterCondition } from './shownQuery';

const FIELDS: Field[] = [
    { name: 'band', datatype: 'char', kind: 'text' },
    { name: 'mag', datatype: 'double', kind: 'number' },
];

test.each([
    [0, "= g | it's", "band IN ('g', 'it''s')"],
    [0, '!= g', "(band NOT IN ('g') OR band IS NULL)"],
    [0, '= NULL', 'band IS NULL'],
    [0, 'gal', "band ILIKE '%gal%'"],
    [1, '3..4.5', 'mag BETWEEN 3 AND 4.5'],
    [1, '= 1 | 2', 'mag IN (1, 2)'],
])('column %i: %s is %s in ADQL, and typed as it is described', (column, typed, adql) => {
    const filter = parseCondition(typed, FIELDS[column]!, column);
    if (typeof filter !== 'object') throw new Error(String(filter));
    expect(filterCondition(filter, FIELDS)).toBe(adql);
    expect(describeFilter(filter, FIELDS[column]!)).toBe(typed);
});
