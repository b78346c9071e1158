import { expect, test } from 'vitest';
import { drawAxes, ticksOf } from './plotAxes';
import { drawKinds, drawLegend } from './legend';
import { svgPen, TRANSPARENT, type Pen } from './pen';

const like = { measure: (said: string) => 7 * said.length } as unknown as Pen;
const INK = { text: 'black', quiet: 'grey', line: 'silver' };
const BOX = { left: 60, top: 10, width: 300, height: 200 };
const ramp = Uint32Array.from({ length: 256 }, (_, k) => k);

test('SVG: signs of XML in names are written as such', () => {
    const pen = svgPen(400, 300, '"A", serif', like);
    pen.text('a < b & "c"', 1, 2, { colour: 'red', upright: true, halo: 'white' });
    expect(pen.document()).toContain('>a &lt; b &amp; &quot;c&quot;</text>');
    expect(pen.document()).toContain('font-family="&quot;A&quot;, serif"');
    expect(pen.document()).not.toMatch(/<svg[^>]*style=/);
});

test('SVG: what is within a box is clipped, boxes one in another', () => {
    const pen = svgPen(400, 300, 'serif', like);
    pen.within(BOX, () => pen.within(BOX, () => pen.fill(0, 0, 1, 1, 'red')));
    const written = pen.document();
    expect(written.match(/<g /g)).toHaveLength(2);
    expect(written.match(/<\/g>/g)).toHaveLength(2);
    expect(new Set(written.match(/id="clip\d"/g)).size).toBe(2);
});

test('axes: labels, ticks within the frame, no two of them over each other', () => {
    const pen = svgPen(400, 300, 'serif', like);
    const view = { u0: 123456.1, u1: 123456.9, v0: 20, v1: 0 };
    drawAxes(pen, view, BOX, { label: 'x'.repeat(80), log: false }, { label: 'y [mag]', log: false }, INK);
    const written = pen.document();
    expect(written).toMatch(/>x+…<\/text>/);
    expect(written).toContain('>y [mag]</text>');
    const ticks = [...written.matchAll(/translate\(([\d.]+) 219\)/g)].map(([, x]) => Number(x));
    expect(ticks.length).toBeGreaterThan(1);
    for (let k = 1; k < ticks.length; k++) expect(ticks[k]! - ticks[k - 1]!).toBeGreaterThan(7 * 8);
});

test('axes of days have ticks at dates, of JD as of MJD', () => {
    const labels = (epoch: number, from: number) =>
        ticksOf({ label: '', log: false, epoch }, from, from + 4, 4).map(({ label }) => label);
    expect(labels(0, 57388)).toEqual(labels(2400000.5, 2457388.5));
    expect(labels(0, 57388)[0]).toBe('2016-01-01');
});

test('legends: a bar with its range, of a single value too; names of kinds, cut where too long', () => {
    const pen = svgPen(400, 300, 'serif', like);
    drawLegend(pen, BOX, { label: 'rows', range: [1, 1000], log: true, ramp }, INK);
    for (const value of [7, 1234, 0.29752066])
        drawLegend(pen, BOX, { label: 'one', range: [value, value], log: false, ramp }, INK);
    drawKinds(
        pen,
        BOX,
        { names: ['G', '', 'planetary nebulae'], others: true },
        { kinds: ramp.slice(0, 9), text: 'black' },
    );
    const written = pen.document();
    for (const said of ['1', '1000', '7', '1234', '0.298', 'rows', 'G', '(none)', 'others'])
        expect(written).toContain(`>${said}</text>`);
    expect(written).toMatch(/>planet\w*…<\/text>/);
});

test('SVG: discs are shapes with their own colours, in order', () => {
    const pen = svgPen(400, 300, 'serif', like);
    pen.discs({ x: [1, 2], y: [3, 4.567], count: 2, radius: [1, 2], colours: ['red', 'blue'], shades: [1, 0], opacity: 0.5 }); // prettier-ignore
    pen.discs({ x: [9], y: [9], count: 1, radius: 3, colours: ['green'] });
    expect(pen.document()).toContain(
        '<g fill="none" stroke-linecap="round" stroke-opacity="0.5"><path stroke="blue" stroke-width="2" d="M1 3h0"/>' +
            '<path stroke="red" stroke-width="4" d="M2 4.57h0"/></g>' +
            '<g fill="none" stroke-linecap="round" stroke-opacity="1" stroke-width="6" stroke="green"><path d="M9 9h0"/></g>',
    );
});

test('SVG: a transparent ground is not drawn, and texts have no halo of it', () => {
    const pen = svgPen(400, 300, 'serif', like);
    pen.fill(0, 0, 400, 300, TRANSPARENT);
    pen.text('said', 1, 2, { colour: 'black', halo: TRANSPARENT });
    expect(pen.document()).not.toContain('<rect');
    expect(pen.document()).not.toContain('stroke');
});
