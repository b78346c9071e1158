import { expect, test } from 'vitest';
import type { AngleForm, Frame, Position } from '../uploads/positionGuess';
import type { KeptMatch } from '../tap/keptMatches';
import { findKeptPairs, listKeptChoices, listKeptKeeps } from './keptPairs';
import { isRadius, masPerYear, matchAdql, outputNames, perArcsec, type Match, type MatchTable } from './matchQuery';
import { decimalSql, pointSql, sourceSql } from '../uploads/positionSql';

const at = (
    longitude = 'ra',
    latitude = 'dec',
    forms: [AngleForm, AngleForm] = ['deg', 'deg'],
    frame: Frame = 'ICRS',
): Position => ({
    frame,
    longitude: { column: longitude, form: forms[0] },
    latitude: { column: latitude, form: forms[1] },
});
const mine: MatchTable = { table: 'TAP_UPLOAD.mine', position: at(), columns: ['id'], all: ['id', 'ra', 'dec'] };
const stars: MatchTable = { table: 'tycho2.bright', position: at(), columns: ['tyc_id'], all: ['tyc_id', 'ra', 'dec'] };
const match = (more: Partial<Match> = {}): Match => ({
    left: mine,
    right: stars,
    radius: { arcsec: 2 },
    choice: 'nearest',
    keep: 'matched',
    ...more,
});

test('the nearest of each', () => {
    expect(matchAdql(match())).toBe(
        `SELECT
  a.id,
  b.tyc_id,
  IN_UNIT(DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)), 'arcsec') AS separation_arcsec
FROM TAP_UPLOAD.mine AS a
JOIN tycho2.bright AS b
  ON 1 = skyhouse_nearest(1, POINT(a.ra, a.dec), POINT(b.ra, b.dec), 2 / 3600.)`,
    );
});

test('all pairs, mutual ones, and rows without a partner', () => {
    expect(matchAdql(match({ choice: 'all' }))).toContain(
        'JOIN tycho2.bright AS b\n  ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) <= 2 / 3600.',
    );
    expect(matchAdql(match({ choice: 'mutual', keep: 'left' }))).toContain(
        '\nLEFT JOIN tycho2.bright AS b\n  ON 1 = skyhouse_mutual(POINT(a.ra, a.dec), POINT(b.ra, b.dec), 2 / 3600.)',
    );
    expect(matchAdql(match({ keep: 'unmatched' }))).toBe(
        `SELECT
  a.id
FROM TAP_UPLOAD.mine AS a
WHERE NOT EXISTS (
  SELECT * FROM tycho2.bright AS b
  WHERE DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) <= 2 / 3600.)`,
    );
});

test('without columns of the left all of it is kept of rows without a partner', () => {
    expect(matchAdql(match({ keep: 'unmatched', left: { ...mine, columns: [] } }))).toContain(
        'SELECT\n  a.id, a.ra, a.dec\nFROM',
    );
});

test('a pair of tables without columns still gives the separation', () => {
    const bare = { left: { ...mine, columns: [] }, right: { ...stars, columns: [] } };
    expect(matchAdql(match(bare))).toMatch(
        /^SELECT\n {2}IN_UNIT\(DISTANCE\(.*\), 'arcsec'\) AS separation_arcsec\nFROM/,
    );
});

test('odd names are quoted, equal ones told apart', () => {
    const left = { ...mine, columns: ['ra', 'my mag', 'size', 'ra_1', 'a"b'] };
    const right = { ...stars, columns: ['RA', 'tyc_id'] };
    expect(matchAdql(match({ left, right })).split('\nFROM')[0]).toBe(
        `SELECT
  a.ra AS ra_1_2, a."my mag", a."size", a.ra_1, a."a""b",
  b.RA AS RA_2, b.tyc_id,
  IN_UNIT(DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)), 'arcsec') AS separation_arcsec`,
    );
});

test('many columns take several lines', () => {
    const columns = Array.from({ length: 30 }, (_, number) => `column_${number}`);
    const lines = matchAdql(match({ left: { ...mine, columns } }))
        .split('\n')
        .filter((line) => line.startsWith('  a.'));
    expect(lines.length).toBeGreaterThan(3);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(90);
    expect(lines.every((line) => line.endsWith(','))).toBe(true);
});

test('a column of a file called as the separation is', () => {
    expect(outputNames(['Separation_Arcsec'], []).separation).toBe('separation_arcsec_2');
});

test('names of one side that differ by case alone', () => {
    const { left, right } = outputNames(['Mag', 'mag'], ['MAG']);
    expect(new Set([...left, ...right].map((name) => name.toLowerCase())).size).toBe(3);
});

test('forms of coordinates become degrees in a subquery', () => {
    const converted = (...forms: [AngleForm, AngleForm]) =>
        sourceSql('a', { ...mine, position: at('x', 'y', forms) }).replace(
            /^\(\n {4}SELECT t\.\*, |\n {4}FROM.*$/gs,
            '',
        );
    expect(converted('rad', 'rad')).toBe('DEGREES(t.x) AS longitude_deg, DEGREES(t.y) AS latitude_deg');
    expect(converted('hour', 'deg')).toBe('15 * t.x AS longitude_deg, t.y AS latitude_deg');
    expect(converted('hms', 'dms')).toBe(
        'ivo_hms_to_degrees(t.x) AS longitude_deg, ivo_dms_to_degrees(t.y) AS latitude_deg',
    );
    expect(converted('text', 'text')).toBe(
        'CAST(t.x AS DOUBLE PRECISION) AS longitude_deg, CAST(t.y AS DOUBLE PRECISION) AS latitude_deg',
    );
    const side = { ...mine, position: at('x', 'y', ['rad', 'rad']), all: ['LONGITUDE_DEG', 'x', 'y'] };
    expect(sourceSql('a', side)).toMatch(/AS longitude_deg_2, .*\n {4}FROM TAP_UPLOAD\.mine AS t\) AS a$/);
    expect(pointSql('a', side)).toBe('POINT(a.longitude_deg_2, a.latitude_deg)');
    expect(sourceSql('a', mine)).toBe('TAP_UPLOAD.mine AS a');
});

test('frames', () => {
    const position = at('l (deg)', 'b', undefined, 'GALACTIC');
    expect(pointSql('b', { ...stars, position })).toBe(`POINT('GALACTIC', b."l (deg)", b.b)`);
});

test('proper motions move positions, and spare rows without one', () => {
    const motion = { ra: 'pmra', dec: 'pmdec', mas: 1, from: 2000, to: 2016 };
    expect(pointSql('b', { ...stars, motion })).toBe(
        'CASE WHEN b.ra IS NOT NULL AND b.dec IS NOT NULL THEN ' +
            'ivo_epoch_prop_pos(b.ra, b.dec, 0, b.pmra, b.pmdec, 0, 2000, 2016) END',
    );
    expect(pointSql('b', { ...stars, motion: { ...motion, mas: 1000 } })).toContain('b.pmra * 1000., b.pmdec * 1000.');
});

test('radii of errors', () => {
    const radius = (left?: MatchTable['errors'], right?: MatchTable['errors']) =>
        matchAdql(
            match({ radius: { times: 3 }, left: { ...mine, errors: left }, right: { ...stars, errors: right } }),
        ).replace(/^.*POINT\(b.ra, b.dec\),\s+(.*)\)$/s, '$1');
    expect(radius({ column: 'err', perArcsec: 1 })).toBe('3 * a.err / 3600.');
    expect(radius(undefined, { column: 'e pos', perArcsec: 1000 })).toBe('3 * (b."e pos" / 1000.) / 3600.');
    expect(radius({ column: 'err', perArcsec: 1 / 3600 })).toBe('3 * (a.err * 3600.) / 3600.');
    expect(radius({ column: 'e', perArcsec: 1 }, { column: 'f', perArcsec: 1000 })).toBe(
        '3 * SQRT(a.e * a.e + (b.f / 1000.) * (b.f / 1000.)) / 3600.',
    );
});

test('a table with itself: no row is its own partner', () => {
    const self = { ...stars, id: 'tyc_id' };
    expect(matchAdql(match({ left: self, right: self }))).toMatch(/, 2 \/ 3600\.\) AND a\.tyc_id <> b\.tyc_id$/);
    expect(matchAdql(match({ left: self, right: self, keep: 'unmatched' }))).toMatch(/ AND a\.tyc_id <> b\.tyc_id\)$/);
    expect(matchAdql(match({ left: stars, right: stars }))).not.toContain('<>');
    expect(matchAdql(match({ left: { ...mine, id: 'id' }, right: self }))).not.toContain('<>');
});

test('units', () => {
    expect(perArcsec('mas')).toBe(1000);
    expect(perArcsec(' deg ')).toBeCloseTo(1 / 3600, 12);
    expect(perArcsec('mag')).toBeUndefined();
    for (const unit of ['mas/yr', 'mas.yr**-1', 'mas yr-1', 'mas/year', 'mas.yr^-1']) expect(masPerYear(unit)).toBe(1);
    expect(masPerYear('arcsec/yr')).toBe(1000);
    expect(masPerYear('km/s')).toBeUndefined();
    expect(masPerYear('')).toBeUndefined();
});

test('radii and numbers', () => {
    for (const good of [0.001, 2, 648000]) expect(isRadius(good)).toBe(true);
    for (const bad of [0, -1, NaN, Infinity, 648001]) expect(isRadius(bad)).toBe(false);
    expect(decimalSql(1000)).toBe('1000.');
    expect(decimalSql(0.5)).toBe('0.5');
    expect(decimalSql(1 / (1 / 3600))).toBe('3600.');
});

const KEPT: KeptMatch = {
    table: 'gaia.neighbours',
    left: { table: 'gaia.dr3', ids: [{ column: 'source_id', refersTo: 'source_id' }], epoch: null },
    right: {
        table: 'ex."T 2"',
        ids: [
            { column: 'run', refersTo: '"Run"' },
            { column: 'id', refersTo: 'id' },
        ],
        epoch: null,
    },
    kind: 'all',
    radius: 5,
    isCurrent: true,
};
const gaia: MatchTable = { table: 'gaia.dr3', position: at(), columns: ['source_id'], all: ['source_id', 'ra', 'dec'] };
const other: MatchTable = { table: 'ex."T 2"', position: at(), columns: ['id'], all: ['Run', 'id', 'ra', 'dec'] };

test('the pairs of a kept match, by ids of one and two columns', () => {
    const kept = { match: KEPT, isTurned: false };
    expect(matchAdql(match({ left: gaia, right: other, radius: { arcsec: 3 }, kept }))).toBe(
        `SELECT
  a.source_id,
  b.id,
  m.separation AS separation_arcsec
FROM gaia.dr3 AS a
JOIN gaia.neighbours AS m
  ON m.source_id = a.source_id AND m.separation <= 3 AND m.rank = 1
JOIN ex."T 2" AS b
  ON m.run = b."Run" AND m.id = b.id`,
    );
});

test('of a kept match that is turned, all pairs, and rows without one', () => {
    const kept = { match: KEPT, isTurned: true };
    const turned = {
        left: other,
        right: { ...gaia, columns: [] },
        radius: { arcsec: 5 },
        choice: 'all',
        kept,
    } as const;
    expect(matchAdql(match({ ...turned, keep: 'left' }))).toBe(
        `SELECT
  a.id,
  m.separation AS separation_arcsec
FROM ex."T 2" AS a
LEFT JOIN gaia.neighbours AS m
  ON m.run = a."Run" AND m.id = a.id`,
    );
    expect(matchAdql(match({ ...turned, keep: 'unmatched' }))).toContain(
        `WHERE NOT EXISTS (
  SELECT * FROM gaia.neighbours AS m
  WHERE m.run = a."Run" AND m.id = a.id)`,
    );
});

test('a kept match is offered for the partners that it has, if it has followed its tables', () => {
    const best = { ...KEPT, kind: 'best' } as const;
    const mutual = { ...KEPT, kind: 'mutual' } as const;
    const turned = findKeptPairs([KEPT, best, mutual], 'EX."T 2"', 'gaia.DR3');
    expect(turned.map(listKeptChoices)).toEqual([['all'], [], ['mutual']]);
    const straight = findKeptPairs([KEPT, best, mutual], 'gaia.dr3', 'ex."T 2"');
    expect(straight.map(listKeptChoices)).toEqual([['nearest', 'all'], ['nearest'], ['mutual']]);
    expect(straight.map((pairs) => listKeptKeeps(pairs).includes('unmatched'))).toEqual([true, true, false]);
    expect(findKeptPairs([{ ...KEPT, isCurrent: false }], 'gaia.dr3', 'ex."T 2"')).toEqual([]);
    expect(findKeptPairs([KEPT], 'gaia.dr3', 'gaia.dr3')).toEqual([]);
});
