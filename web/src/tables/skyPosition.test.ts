import { describe, expect, it } from 'vitest';
import type { Column } from '../tap/vosiTables';
import { parsePosition, findPositionColumns } from './skyPosition';

const column = (name: string, ucd = '', datatype = 'double', arraysize = '') =>
    ({ name, ucd, datatype, arraysize }) as Column;

describe('position', () => {
    it('reads degrees', () => {
        expect(parsePosition('56.75 24.12')).toEqual([56.75, 24.12]);
        expect(parsePosition(' 56.75,-24 ')).toEqual([56.75, -24]);
        expect(parsePosition('10° +20°')).toEqual([10, 20]);
    });

    it('reads sexagesimal hours and degrees', () => {
        expect(parsePosition('03:47:00 +24:07:12')).toEqual([56.75, 24.12]);
        expect(parsePosition('3h47m0s −24d07m12s')).toEqual([56.75, -24.12]);
        expect(parsePosition('3 47 00 -0 30 00')).toEqual([56.75, -0.5]);
    });

    it('takes nothing else for one', () => {
        for (const typed of ['M 45', '', '56.75', '400 10', '10 95', '3:61:00 +10:00:00', 'NGC 224 +1']) {
            expect(parsePosition(typed), typed).toBeUndefined();
        }
    });
});

describe('positionColumns', () => {
    it('goes by the main UCDs, then by others, then by names', () => {
        const main = [
            column('ra2', 'pos.eq.ra'),
            column('a', 'pos.eq.ra;meta.main'),
            column('d', 'pos.eq.dec;meta.main'),
        ];
        expect(findPositionColumns(main)?.map((each) => each.name)).toEqual(['a', 'd']);
        expect(findPositionColumns([column('RAJ2000'), column('DEJ2000')])?.[0].name).toBe('RAJ2000');
        expect(findPositionColumns([column('pmra', 'pos.pm;pos.eq.ra'), column('dec')])).toBeUndefined();
        expect(findPositionColumns([column('ra', '', 'char', '*'), column('dec')])).toBeUndefined();
    });
});
