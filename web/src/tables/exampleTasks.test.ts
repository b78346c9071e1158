import { describe, expect, it } from 'vitest';
import type { Example } from '../tap/serviceExamples';
import type { SearchEntry } from './catalogueSearch';
import { groupByName, groupByTask, filterExamples, makeExamples, plotOf, taskOf } from './exampleTasks';

const example = (query: string, rest: Partial<Example> = {}): Example => ({
    ...{ id: query, name: '', description: '', tables: ['s.t'], query },
    ...rest,
});
const cone = example("SELECT ra, dec FROM s.t WHERE 1 = CONTAINS(POINT('ICRS', ra, dec), CIRCLE(1, 2, 3))");
const match = example('SELECT * FROM s.t AS a JOIN s.u AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.1', {
    tables: ['s.t', 's.u'],
});
const colours = example('SELECT bt_mag - vt_mag, vt_mag FROM s.t');
const sums = example('SELECT type, COUNT(*) FROM s.t GROUP BY type');

const column = (table: string, name: string, ucd: string): SearchEntry => ({
    ...{ kind: 'column', table, name, ucd, description: '', unit: '', principal: false },
});
const words = {
    colours: (table: string) => ({ name: `colours ${table}`, description: '' }),
    match: (one: string, other: string) => ({ name: `${one} ${other}`, description: '' }),
    series: (table: string) => ({ name: `series ${table}`, description: '' }),
};
const stars = [
    column('s.stars', 'id', 'meta.id;meta.main'),
    column('s.stars', 'ra', 'pos.eq.ra;meta.main'),
    column('s.stars', 'dec', 'pos.eq.dec;meta.main'),
    column('s.stars', 'v', 'phot.mag;em.opt.V'),
    column('s.stars', 'b', 'phot.mag;em.opt.B'),
];
const epochs = [
    column('s.epochs', 'star', 'meta.id'),
    column('s.epochs', 'mjd', 'time.epoch'),
    column('s.epochs', 'flux', 'phot.flux;em.opt.V'),
];

describe('tasks', () => {
    it('are told by the query', () => {
        expect([cone, match, colours, sums].map(taskOf)).toEqual(['cone', 'match', 'colours', 'sums']);
        expect(taskOf(example('SELECT 1', { name: 'Light curve of RR Lyrae' }))).toBe('series');
        expect(taskOf(example('SELECT a FROM s.t'))).toBeUndefined();
        expect(taskOf(example("SELECT 'DISTANCE(' FROM s.t"))).toBeUndefined();
        expect(groupByTask([cone, sums]).get('cone')).toEqual([cone]);
    });

    it('have the plots of what is selected', () => {
        expect(plotOf(cone, 'cone')).toBe('sky');
        expect(plotOf(colours, 'colours')).toBe('colours');
        expect(plotOf(sums, 'sums')).toBeUndefined();
    });

    it('are chosen by words', () => {
        expect(filterExamples([cone, match, sums], 'count TYPE')).toEqual([sums]);
        expect(filterExamples([cone, match], '')).toHaveLength(2);
        expect([...groupByName([match])].map(([table]) => table)).toEqual(['s.t', 's.u']);
    });
});

describe('made examples', () => {
    it('go by what the columns are', () => {
        const found = makeExamples([...stars, ...epochs], [], words);
        expect(found.map((each) => each.name)).toEqual(['colours s.stars', 'series s.epochs']);
        expect(found[0]!.query).toContain('SELECT TOP 50000 b, v, b - v AS colour');
        expect(found[1]!.query).toContain('WHERE star = (SELECT MIN(star) FROM s.epochs)\nORDER BY mjd');
    });

    it('match two tables with positions', () => {
        const others = stars.map((each) => ({ ...each, table: 's.others' }));
        const found = makeExamples([...stars, ...others], [colours], words);
        expect(found).toHaveLength(1);
        expect(found[0]!.query).toContain('ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < 2 / 3600.');
    });

    it('are none where there are some, or nothing suits', () => {
        expect(makeExamples(stars, [colours, match], words)).toEqual([]);
        expect(makeExamples([column('TAP_SCHEMA.columns', 'ra', 'pos.eq.ra')], [], words)).toEqual([]);
    });
});
