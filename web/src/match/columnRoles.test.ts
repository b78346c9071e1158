import { expect, test } from 'vitest';
import { guessPosition, type CandidateColumn } from '../uploads/positionGuess';
import { firstColumns, findIdColumn, findMotionColumn } from './columnRoles';

const column = (name: string, ucd = '', unit = ''): CandidateColumn => ({ name, kind: 'number', ucd, unit });
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
    expect(firstColumns(columns, guessPosition(columns))).toEqual(['source_id', 'ra', 'dec', 'g']);
    expect(firstColumns([column('a'), column('b')], undefined)).toEqual([]);
});

test('ids by UCD, else by name', () => {
    expect(findIdColumn(columns)?.name).toBe('source_id');
    expect(findIdColumn([column('x'), column('ID')])?.name).toBe('ID');
    expect(findIdColumn([column('x'), column('idle')])).toBeUndefined();
});

test('proper motions by UCD, else by name, in units that are known', () => {
    expect([findMotionColumn(columns, 'ra')?.name, findMotionColumn(columns, 'dec')?.name]).toEqual(['pmra', 'pmdec']);
    expect(findMotionColumn([column('pmRA', '', 'arcsec/yr')], 'ra')?.name).toBe('pmRA');
    expect(findMotionColumn([column('pmDE', '', 'mas/yr')], 'dec')?.name).toBe('pmDE');
    expect(findMotionColumn([column('pmra')], 'ra')).toBeUndefined();
    expect(findMotionColumn([column('e_pmra', 'stat.error;pos.pm;pos.eq.ra', 'mas/yr')], 'ra')).toBeUndefined();
});
