import { expect, test } from 'vitest';
import { guessedPosition, type Known } from '../uploads/positionGuess';
import { firstColumns, idOf, motionOf } from './columnRoles';

const column = (name: string, ucd = '', unit = ''): Known => ({ name, kind: 'number', ucd, unit });
const columns = [
    column('solution'),
    column('source_id', 'meta.id;meta.main'),
    column('ra', 'pos.eq.ra;meta.main', 'deg'),
    column('e_ra', 'stat.error;pos.eq.ra', 'mas'),
    column('dec', 'pos.eq.dec;meta.main', 'deg'),
    column('pmra', 'pos.pm;pos.eq.ra', 'mas.yr**-1'),
    column('pmdec', 'pos.pm;pos.eq.dec', 'mas.yr**-1'),
    column('g', 'phot.mag;em.opt', 'mag'),
    column('e_g', 'stat.error;phot.mag', 'mag'),
];

test('ids, positions and magnitudes are what a result has first', () => {
    expect(firstColumns(columns, guessedPosition(columns))).toEqual(['source_id', 'ra', 'dec', 'g']);
    expect(firstColumns([column('a'), column('b')], undefined)).toEqual([]);
});

test('ids by UCD, else by name', () => {
    expect(idOf(columns)?.name).toBe('source_id');
    expect(idOf([column('x'), column('ID')])?.name).toBe('ID');
    expect(idOf([column('x'), column('idle')])).toBeUndefined();
});

test('proper motions by UCD, else by name, in units that are known', () => {
    expect([motionOf(columns, 'ra')?.name, motionOf(columns, 'dec')?.name]).toEqual(['pmra', 'pmdec']);
    expect(motionOf([column('pmRA', '', 'arcsec/yr')], 'ra')?.name).toBe('pmRA');
    expect(motionOf([column('pmDE', '', 'mas/yr')], 'dec')?.name).toBe('pmDE');
    expect(motionOf([column('pmra')], 'ra')).toBeUndefined();
    expect(motionOf([column('e_pmra', 'stat.error;pos.pm;pos.eq.ra', 'mas/yr')], 'ra')).toBeUndefined();
});
