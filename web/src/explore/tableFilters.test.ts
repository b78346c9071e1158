import { describe, expect, it } from 'vitest';
import type { Column } from '../tap/vosiTables';
import { chooseFirstPanels, makeQuantity, parseQuantity, quantityLabel } from './quantities';
import { countQuery, isWithin, NO_FILTERS, readAddress, rowsQuery, withRange, writeAddress } from './tableFilters';

function column(name: string, ucd = '', given: Partial<Column> = {}): Column {
    const nothing = { description: '', utype: '', arraysize: '', xtype: '', indexed: false, primary: false };
    return { ...nothing, name, ucd, unit: '', datatype: 'float', nullable: true, ...given };
}

const COLUMNS = [
    column('id', 'meta.id;meta.main', { datatype: 'long' }),
    column('ra', 'pos.eq.ra;meta.main', { datatype: 'double', unit: 'deg' }),
    column('dec', 'pos.eq.dec;meta.main', { datatype: 'double', unit: 'deg' }),
    column('bt_mag', 'phot.mag;em.opt.B', { unit: 'mag' }),
    column('vt_mag', 'phot.mag;em.opt.V', { unit: 'mag' }),
    column('"a - ""b"', '', { datatype: 'int' }),
    column('seen', 'time.epoch', { datatype: 'char', arraysize: '*', xtype: 'timestamp' }),
    column('name', 'meta.id', { datatype: 'char', arraysize: '*' }),
    column('flux', 'phot.flux', { arraysize: '*' }),
];
const [B, V] = [COLUMNS[3]!, COLUMNS[4]!];
const FIRST = chooseFirstPanels(COLUMNS);
const TABLE = { table: 'tycho2.bright', position: ['ra', 'dec'] as const };
const COLOUR = makeQuantity(B, V);

describe('quantities', () => {
    it('are read by the names of the catalogue alone', () => {
        expect(parseQuantity('BT_MAG-vt_mag', COLUMNS)?.adql).toBe('bt_mag - vt_mag');
        expect(parseQuantity('"a - ""b" - vt_mag', COLUMNS)?.adql).toBe('"a - ""b" - vt_mag');
        for (const wrong of ['', '-', 'vt_mag -', 'no', 'vt_mag; DROP', 'name', 'flux', 'seen - vt_mag', 'a - b - c'])
            expect(parseQuantity(wrong, COLUMNS), wrong).toBeUndefined();
    });
    it('of instants are days', () => {
        const seen = parseQuantity('seen', COLUMNS)!;
        expect([seen.adql, quantityLabel(seen)]).toEqual(['ivo_to_mjd(seen)', 'seen (MJD)']);
    });
    it('begin with a colour-magnitude diagram, without positions and identifiers', () => {
        expect(FIRST.plane?.map(({ name }) => name)).toEqual(['bt_mag - vt_mag', 'vt_mag']);
        const names = FIRST.histograms.map(({ name }) => name);
        expect(names).toEqual(['vt_mag', 'bt_mag - vt_mag', 'bt_mag', '"a - ""b"']);
    });
});

describe('filters', () => {
    const ranged = withRange(NO_FILTERS, COLOUR, { min: -0.5, max: 1 });
    const both = { ...ranged, circle: { ra: 56.75, dec: -24, radius: 2 } };

    it('are conditions of ADQL', () => {
        expect(rowsQuery(TABLE, NO_FILTERS)).toBe('SELECT *\nFROM tycho2.bright');
        expect(countQuery(TABLE, both)).toBe(
            'SELECT COUNT(*) AS n\nFROM tycho2.bright\nWHERE bt_mag - vt_mag BETWEEN -0.5 AND 1\n' +
                '  AND 1 = CONTAINS(POINT(ra, dec), CIRCLE(56.75, -24, 2))',
        );
        const open = withRange(withRange(NO_FILTERS, COLOUR, { min: 0, max: Infinity }), makeQuantity(V), {
            min: -Infinity,
            max: 5,
        });
        expect(rowsQuery(TABLE, open)).toContain('WHERE bt_mag - vt_mag >= 0\n  AND vt_mag <= 5');
    });
    it('narrow others', () => {
        const narrow = withRange(both, COLOUR, { min: 0, max: 1 });
        expect([isWithin(narrow, ranged), isWithin(narrow, both), isWithin(both, NO_FILTERS)]).toEqual([
            true,
            true,
            true,
        ]);
        expect([isWithin(ranged, narrow), isWithin(ranged, both), isWithin(NO_FILTERS, ranged)]).toEqual([
            ...[false, false, false],
        ]);
        expect(isWithin(withRange(both, COLOUR, undefined), both)).toBe(false);
    });
    it('come back from an address', () => {
        const page = { ...FIRST, filters: both, zoomed: true, sample: 20_000 };
        const back = readAddress(new URLSearchParams(writeAddress(page).toString()), COLUMNS, FIRST);
        expect(back).toEqual({ ...page, unknown: [] });
    });
    it('of an address that is not from here are left out', () => {
        const text = 'panel=vt_mag&panel=no&range=no,1,2&range=vt_mag,x,2&range=vt_mag,3,2&circle=400,0,1&sample=-1';
        const read = readAddress(new URLSearchParams(text), COLUMNS, FIRST);
        expect(read.histograms.map(({ name }) => name)).toEqual(['vt_mag']);
        expect(read).toMatchObject({ filters: NO_FILTERS, zoomed: false, sample: undefined, unknown: ['no', 'no'] });
    });
});
