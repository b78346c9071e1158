import { expect, test } from 'vitest';
import { publicLayout } from './publicLayout';

test('a layout leaves the browser without the other results that lie over its plots', () => {
    const overlays = [{ table: 'tab7', title: 'my secret list', axes: {} }];
    const plots = [{ settings: { kind: 'sky', layers: { overlays, contours: 'peak' } }, view: [0, 1, 0, 1] }, {}];
    const left = publicLayout(JSON.stringify({ view: 'plot', plots }));
    expect(left).not.toContain('secret');
    const kept = [{ settings: { kind: 'sky', layers: { contours: 'peak' } }, view: [0, 1, 0, 1] }, {}];
    expect(JSON.parse(left)).toEqual({ view: 'plot', plots: kept });
});

test.each(['', '{"view":"table"}', '{"filters":[{"column":"a","contains":"\\"overlays\\""}]}'])(
    'another one stays: %s',
    (layout) => expect(publicLayout(layout)).toBe(layout),
);
