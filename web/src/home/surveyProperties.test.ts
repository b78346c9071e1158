import { describe, expect, test } from 'vitest';
import { orderForMap, readProperties, tilePath } from './surveyProperties';

const DSS = `# DSS
obs_title            = DSS colored
obs_copyright        = Digitized Sky Survey - STScI/NASA
obs_copyright_url    = http://archive.stsci.edu/dss/copyright.html
hips_order           = 9
hips_frame           = equatorial
hips_tile_format     = png jpeg fits
hips_tile_width      = 512
`;

describe('properties of a HiPS', () => {
    test('of a usual one', () => {
        expect(readProperties(DSS)).toEqual({
            title: 'DSS colored',
            copyright: 'Digitized Sky Survey - STScI/NASA',
            copyrightAddress: 'http://archive.stsci.edu/dss/copyright.html',
            frame: 'equatorial',
            orders: [3, 9],
            width: 512,
            extension: 'jpg',
        });
    });
    test('with all that may lack', () => {
        expect(readProperties('hips_order=1')).toMatchObject({
            title: '',
            orders: [1, 1],
            width: 512,
            extension: 'jpg',
        });
        expect(readProperties('hips_order=7\nhips_order_min = 0').orders).toEqual([0, 7]);
    });
    test('that the map cannot show', () => {
        expect(() => readProperties('<html>')).toThrow('does not describe a HiPS');
        expect(() => readProperties('hips_order = 3\nhips_tile_width = 500')).toThrow('does not describe a HiPS');
        expect(() => readProperties(DSS.replace('png jpeg fits', 'fits'))).toThrow('its tiles are fits');
        expect(() => readProperties(DSS.replace('equatorial', 'ecliptic'))).toThrow('its frame is ecliptic');
    });
    test('no script is a link', () => {
        expect(readProperties(`${DSS}obs_copyright_url = javascript:alert(1)`).copyrightAddress).toBe('');
    });
});

test('tiles are in folders of ten thousand', () => {
    expect(tilePath(3, 0, 'jpg')).toBe('Norder3/Dir0/Npix0.jpg');
    expect(tilePath(8, 271_123, 'png')).toBe('Norder8/Dir270000/Npix271123.png');
});

test('the order follows the scale: a tile of order 3 and 512 pixels has 51.5 arcseconds a pixel', () => {
    expect(orderForMap(51.5 / 3600, 512)).toBe(3);
    expect(orderForMap(51.5 / 3600 / 2, 512)).toBe(4);
    expect(orderForMap(0.36, 512)).toBe(-2);
});
