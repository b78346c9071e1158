import { expect, test } from 'vitest';
import { findDoubt, formOf, guessPosition, type CandidateColumn } from './positionGuess';

const column = (name: string, more: Partial<CandidateColumn> = {}): CandidateColumn => ({
    name,
    kind: 'number',
    ...more,
});
const text = (name: string, ...samples: string[]): CandidateColumn => ({ name, kind: 'text', samples });

function guess(...columns: CandidateColumn[]): string {
    const at = guessPosition(columns);
    if (!at) return '';
    const { frame, longitude, latitude } = at;
    return `${frame} ${longitude.column}/${longitude.form} ${latitude.column}/${latitude.form}`;
}

test('by UCD, the main one first', () => {
    expect(
        guess(
            column('ra_b', { ucd: 'pos.eq.ra' }),
            column('x', { ucd: 'pos.eq.ra;meta.main', unit: 'deg' }),
            column('dec_b', { ucd: 'pos.eq.dec' }),
            column('y', { ucd: 'POS.EQ.DEC;META.MAIN', unit: 'deg' }),
        ),
    ).toBe('ICRS x/deg y/deg');
    expect(guess(column('p', { ucd: 'pos.pm;pos.eq.ra' }), column('q', { ucd: 'pos.pm;pos.eq.dec' }))).toBe('');
    expect(guess(column('e', { ucd: 'stat.error;pos.eq.ra' }), column('f', { ucd: 'stat.error;pos.eq.dec' }))).toBe('');
    expect(guess(column('x', { ucd: 'pos.galactic.lon' }), column('y', { ucd: 'pos.galactic.lat' }))).toBe(
        'GALACTIC x/deg y/deg',
    );
});

test.each([
    ['ra', 'dec', 'ICRS'],
    ['RA', 'DEC', 'ICRS'],
    ['RAJ2000', 'DEJ2000', 'ICRS'],
    ['_RAJ2000', '_DEJ2000', 'ICRS'],
    ['RA_ICRS', 'DE_ICRS', 'ICRS'],
    ['RAdeg', 'DEdeg', 'ICRS'],
    ['ra (deg)', 'dec (deg)', 'ICRS'],
    ['ALPHA_J2000', 'DELTA_J2000', 'ICRS'],
    ['right ascension', 'declination', 'ICRS'],
    ['s_ra', 's_dec', 'ICRS'],
    ['RAB1950', 'DEB1950', 'FK4'],
    ['GLON', 'GLAT', 'GALACTIC'],
    ['l', 'b', 'GALACTIC'],
    ['ELON', 'ELAT', 'ECLIPTIC'],
])('by name: %s and %s', (longitude, latitude, frame) => {
    expect(guess(column('id'), column(longitude), column(latitude))).toBe(`${frame} ${longitude}/deg ${latitude}/deg`);
});

test('names that only begin alike are no positions', () => {
    for (const name of ['rate', 'radius', 'rad_vel', 'random', 'ra_error', 'e_ra', 'pmra'])
        expect(guess(column(name), column('dec'))).toBe('');
    expect(guess(column('ra'), column('decay'))).toBe('');
});

test('pairs belong together', () => {
    expect(guess(column('ra'), column('RAJ2000'), column('DEJ2000'))).toBe('ICRS RAJ2000/deg DEJ2000/deg');
});

test('units and names tell the form', () => {
    expect(guess(column('ra', { unit: 'rad' }), column('dec', { unit: 'rad' }))).toBe('ICRS ra/rad dec/rad');
    expect(guess(column('ra', { unit: 'hourangle' }), column('dec', { unit: 'deg' }))).toBe('ICRS ra/hour dec/deg');
    expect(guess(column('ra_rad'), column('dec_rad'))).toBe('ICRS ra_rad/rad dec_rad/rad');
    expect(guess(column('ra_h'), column('dec_deg'))).toBe('ICRS ra_h/hour dec_deg/deg');
    expect(guess(column('ra', { unit: 'mas' }), column('dec', { unit: 'mas' }))).toBe('');
    expect(guess(column('ra', { kind: 'array' }), column('dec'))).toBe('');
});

test('texts: sexagesimal and decimal', () => {
    expect(guess(text('ra', '00:42:44.3', ' 12:00:00'), text('dec', '+41:16:09', '-00:00:01'))).toBe(
        'ICRS ra/hms dec/dms',
    );
    expect(guess(text('ra', '00 42 44.3'), text('dec', '+41 16 09'))).toBe('ICRS ra/hms dec/dms');
    expect(guess(text('ra', '0h42m44.3s'), text('dec', '+41d16m09s'))).toBe('ICRS ra/hms dec/dms');
    expect(guess(text('ra', '10d41m04s'), text('dec', '+41d16m09s'))).toBe('ICRS ra/dms dec/dms');
    expect(guess(text('ra', '004244.3'), text('dec', '+411609'))).toBe('ICRS ra/hms dec/dms');
    expect(guess(text('ra', '10.684'), text('dec', '-1e1'))).toBe('ICRS ra/text dec/text');
    expect(guess(text('ra', 'north'), text('dec', 'south'))).toBe('');
    expect(guess(text('ra'), text('dec'))).toBe('');
    expect(formOf({ name: 'ra', kind: 'text', unit: '"h:m:s"' }, 'longitude')).toBe('hms');
    expect(formOf({ name: 'de', kind: 'text', unit: '"d:m:s"' }, 'latitude')).toBe('dms');
});

test('values that do not look like degrees', () => {
    const doubt = (longitudes: number[], latitudes: number[]) => {
        const columns = [column('ra', { samples: longitudes }), column('dec', { samples: latitudes })];
        return findDoubt(columns, guessPosition(columns)!);
    };
    expect(doubt([10, 200, 359, 20, 30], [0, 80, -80, 1, 2])).toBeUndefined();
    expect(doubt([0.1, 3, 6, 5, 4], [0.1, -1.5, 1, 1, 1])).toBe('radians');
    expect(doubt([0.1, 3, 23, 5, 4], [0.1, -70, 30, 1, 1])).toBe('hours');
    expect(doubt([0.1, 3], [0.1, 1])).toBeUndefined();
    expect(doubt([10.1, 10.2, 10.3, 10.4, 10.5], [41, 41.1, 41.2, 41, 41])).toBeUndefined();
    expect(doubt([10, 20], [91, 0])).toBe('range');
    expect(doubt([], [])).toBeUndefined();
});
