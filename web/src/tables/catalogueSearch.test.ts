import { describe, expect, it } from 'vitest';
import { markWords, prepareEntry, searchEntries, type SearchEntry } from './catalogueSearch';

const column = (name: string, rest: Partial<SearchEntry> = {}): SearchEntry => ({
    ...{ kind: 'column', table: 'tycho2.bright', name, description: '', unit: '', ucd: '', principal: false },
    ...rest,
});
const entries = [
    column('tycho2.bright', { kind: 'table', description: 'Stars of Tycho-2', principal: true }),
    column('e_vt_mag', { ucd: 'stat.error;phot.mag;em.opt.V', unit: 'mag', description: 'Standard error of vt_mag' }),
    column('vt_mag', { ucd: 'phot.mag;em.opt.V', unit: 'mag', description: 'Tycho-2 VT magnitude', principal: true }),
    column('pmra', { ucd: 'pos.pm;pos.eq.ra', unit: 'mas.yr**-1', description: 'Proper motion in right ascension' }),
    column('ra', { ucd: 'pos.eq.ra;meta.main', unit: 'deg', description: 'Right ascension', principal: true }),
    column('extra', { table: 'other.things', description: 'More of it' }),
].map(prepareEntry);
const names = (typed: string) => searchEntries(entries, typed).best.map((found) => found.entry.name);

describe('search', () => {
    it('puts the exact name first, then beginnings, then words, then other positions', () => {
        expect(names('ra')).toEqual(['ra', 'pmra', 'extra']);
        expect(names('VT_MAG')).toEqual(['vt_mag', 'e_vt_mag']);
    });

    it('finds by UCD, by unit and by description', () => {
        expect(names('pos.pm')).toEqual(['pmra']);
        expect(names('em.opt.v')).toEqual(['vt_mag', 'e_vt_mag']);
        expect(names('mas.yr**-1')).toEqual(['pmra']);
        expect(names('proper motion')).toEqual(['pmra']);
    });

    it('wants every word, and takes the table for one of them', () => {
        expect(names('tycho2 deg')).toEqual(['ra']);
        expect(names('tycho2')).toEqual(['tycho2.bright']);
        expect(names('deg nonsense')).toEqual([]);
        expect(names('  ')).toEqual([]);
    });

    it('tells which part fits', () => {
        const [first] = searchEntries(entries, 'error em.opt.V').best;
        expect([...first!.parts]).toEqual(['ucd']);
        expect(first!.entry.name).toBe('e_vt_mag');
    });

    it('is done with many columns in a moment', () => {
        const many = Array.from({ length: 100_000 }, (_, at) =>
            prepareEntry(column(`c${at}`, { description: `value ${at}` })),
        );
        expect(searchEntries(many, 'c99999').best[0]?.entry.name).toBe('c99999');
        const all = searchEntries(many, 'value', 500);
        expect([all.total, all.best.length, all.best[0]?.entry.name]).toEqual([100_000, 500, 'c0']);
    });
});

describe('marked', () => {
    it('cuts a text where the words are', () => {
        expect(markWords('pos.eq.ra', 'ra POS')).toEqual([
            { text: 'pos', hit: true },
            { text: '.eq.', hit: false },
            { text: 'ra', hit: true },
        ]);
        expect(markWords('a.b', '.')).toHaveLength(3);
        expect(markWords('a', '')).toEqual([{ text: 'a', hit: false }]);
    });
});
