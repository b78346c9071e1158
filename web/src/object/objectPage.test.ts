/** What the object page computes from rows. */

import { describe, expect, test, vi } from 'vitest';
import type { SearchEntry } from '../tables/catalogueSearch';
import type { Rows } from '../tap/jsonRows';
import { DEGREE } from '../sky/directions';
import { findPeaks } from '../statistics/lombScargle';
import { isSameObject, neighboursOf } from './objectMatches.svelte';
import { objectTablesOf, seriesQuery } from './objectTables';
import { findBand, fluxOfMagnitude } from './photometricBands';
import { spectralPointsOf } from './spectralPoints';
import { projectTangent, separation } from './tangentPlane';
import { listBands, phaseOf, readSeries, seriesOfBand } from './timeSeries';

vi.hoisted(() => {
    const page = { document: { baseURI: 'http://localhost/' }, location: { hash: '' } };
    Object.assign(globalThis, { ...page, addEventListener: () => undefined });
});

const entry = (table: string, name: string, ucd: string): SearchEntry => ({
    ...{ kind: 'column', table, name, ucd, description: '', unit: '', principal: false },
});
const COLUMNS = [
    entry('sn.object', 'id', 'meta.id;meta.main'),
    entry('sn.object', 'ra', 'pos.eq.ra;meta.main'),
    entry('sn.object', 'dec', 'pos.eq.dec;meta.main'),
    entry('sn.source', 'mjd', 'time.epoch'),
    entry('sn.source', 'object_id', 'meta.id.parent'),
    entry('sn.source', 'mag', 'phot.mag'),
    entry('sn.source', 'mag_err', 'stat.error;phot.mag'),
    entry('sn.source', 'filter', 'instr.bandpass'),
    entry('sn.note', 'text', 'meta.note'),
];
const rowsOf = (columns: Partial<Rows['columns'][number]>[], data: Rows['data']): Rows => ({
    names: columns.map(({ name }) => name!),
    columns: columns.map((column) => ({ name: '', datatype: '', unit: '', ucd: '', description: '', ...column })),
    ...{ data, overflow: false, service: '' },
});

describe('the tables that know an object', () => {
    const tables = objectTablesOf(COLUMNS);

    test('have positions or time series, by UCD', () => {
        expect(tables).toEqual([
            { name: 'sn.object', position: { ra: 'ra', dec: 'dec' } },
            { name: 'sn.source', series: { time: 'mjd', value: 'mag', error: 'mag_err', band: 'filter' } },
        ]);
    });

    test('a series follows the key to a matched row, with its id as a literal', () => {
        const keys = [{ from: 'sn.source', target: 'sn.object', columns: [{ from: 'object_id', target: 'id' }] }];
        const matched = [{ table: 'sn.object', names: ['id', 'ra'], row: ["o'1", 12] }];
        expect(seriesQuery(tables[1]!, keys, matched, [12, 3])).toBe(
            "SELECT mjd, mag, mag_err, filter\nFROM sn.source\nWHERE object_id = 'o''1'\nORDER BY mjd",
        );
        expect(seriesQuery(tables[1]!, keys, [], [12, 3])).toBeUndefined();
        const placed = { ...tables[1]!, position: { ra: 'ra', dec: 'dec' } };
        expect(seriesQuery(placed, keys, [], [12, 3])).toContain('<= 0.000555555555556');
    });

    test('neighbours have magnitudes and motions in mas/yr', () => {
        const rows = rowsOf(
            [
                { name: 'ra', ucd: 'pos.eq.ra;meta.main', unit: 'deg' },
                { name: 'dec', ucd: 'pos.eq.dec;meta.main', unit: 'deg' },
                { name: 'pmra', ucd: 'pos.pm;pos.eq.ra', unit: 'arcsec.yr**-1' },
                { name: 'pmdec', ucd: 'pos.pm;pos.eq.dec', unit: 'mas.yr**-1' },
                { name: 'v', ucd: 'phot.mag;em.opt.V', unit: 'mag' },
                { name: 'separation', unit: 'deg' },
            ],
            [
                [12, 3, 0.5, -20, 9.5, 0.001],
                [null, 3, 1, 1, 9, 0.002],
            ],
        );
        expect(neighboursOf(tables[0]!, rows)).toEqual([
            { table: 'sn.object', at: 0, ra: 12, dec: 3, distance: 0.001, magnitude: 9.5, motion: [500, -20] },
        ]);
    });
});

describe('light curves', () => {
    const rows = rowsOf(
        [{ name: 'jd' }, { name: 'mag', unit: 'mag' }, { name: 'err' }, { name: 'band' }],
        [
            [2455000.5, 17, 0.1, 'r'],
            ['2009-06-19T00:00:00', 18, null, 'g'],
            [2455002.5, 19, 0.3, 'g'],
            [2455003.5, null, 0.3, 'g'],
        ],
    );

    test('times become MJD, rows without a value are left out, the band with most rows is first', () => {
        const series = readSeries(rows, { error: 'err', band: 'band' });
        expect([...series.times]).toEqual([55000, 55001, 55002]);
        expect(series.isMagnitude).toBe(true);
        expect(listBands(series)).toEqual(['g', 'r']);
        expect([...seriesOfBand(series, 'g').errors]).toEqual([NaN, 0.3]);
    });

    test('phases count from the epoch, also before it', () => {
        expect(phaseOf(10.5, 2, 10)).toBeCloseTo(0.25);
        expect(phaseOf(9.5, 2, 10)).toBeCloseTo(0.75);
    });

    test('peaks are local maxima, and not the flanks of a higher one', () => {
        const power = Float64Array.from([0, 0.2, 0.9, 0.3, 0.4, 0.1, 0, 0, 0, 0.5, 0.1]);
        expect(findPeaks(power, 3)).toEqual([2, 9]);
    });
});

describe('the spectrum', () => {
    test('a Vega magnitude of 0 is the zero point; an error of 0.1 mag is 9.2 %', () => {
        expect(findBand('phot.mag;em.opt.V')?.name).toBe('V');
        expect(fluxOfMagnitude(0, 0.1, 3636)).toEqual([3636, expect.closeTo(3636 * 0.092103, 2) as number]);
        expect(fluxOfMagnitude(5, 0, 3636)[0]).toBeCloseTo(36.36);
    });

    test('columns without band, unit or value give no point', () => {
        const columns = [
            { name: 'v', ucd: 'phot.mag;em.opt.V', unit: 'mag' },
            { name: 'e_v', ucd: '', unit: 'mag' },
            { name: 'w1', ucd: 'phot.flux.density;em.IR.3-4um', unit: 'mJy' },
            { name: 'odd', ucd: 'phot.flux;em.opt.B', unit: 'ct' },
            { name: 'b', ucd: 'phot.mag;em.opt.B', unit: 'mag' },
        ];
        const found = spectralPointsOf('t', columns, [5, 0.1, 20, 7, null]);
        expect(found.map(({ column, wavelength, flux }) => [column, wavelength, flux])).toEqual([
            ['v', 0.545, expect.closeTo(36.36)],
            ['w1', Math.sqrt(12), 0.02],
        ]);
        expect(found[0]!.error).toBeCloseTo(3.3489, 3);
    });
});

test.each([
    [359.99, 0.01],
    [0.02, -0.3],
    [12, 89.9],
])('a position in the tangent plane is the tangent of the angle away: %d %d', (ra, dec) => {
    const centre = [0.01, dec > 80 ? 89.5 : 0] as const;
    const [east, north] = projectTangent(centre, ra, dec)!;
    const away = Math.atan(Math.hypot(east, north) * DEGREE) / DEGREE;
    expect(away).toBeCloseTo(separation(centre, [ra, dec]), 9);
});

test('east is to the left of north, and the far side of the sky has no position', () => {
    const [east, north] = projectTangent([10, 0], 11, 1)!;
    expect(east).toBeCloseTo(1, 3);
    expect(north).toBeGreaterThan(0.99);
    expect(projectTangent([10, 0], 190, 0)).toBeUndefined();
});

test('a row further than ten arcseconds away is not the object', () => {
    const near = { table: 't', at: 0, ra: 1, dec: 2, magnitude: 3 };
    expect(isSameObject({ ...near, distance: 9.9 / 3600 })).toBe(true);
    expect(isSameObject({ ...near, distance: 10.1 / 3600 })).toBe(false);
});
