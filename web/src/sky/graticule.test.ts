import { expect, test } from 'vitest';
import type { Pen } from '../canvas/pen';
import { equalizeScales, type View } from '../canvas/plotView';
import { directionAt, drawLabels, drawLines, stepFor } from './graticule';

const INK = { line: 'line', text: 'text', ground: 'ground' };
const BOX = { left: 0, top: 0, width: 800, height: 400 };
const WHOLE: View = { u0: -2, u1: 2, v0: -1, v1: 1 };

/** What a pen was asked for. */
function recorded(view: View, centre: number, box = BOX) {
    const lines: (readonly number[])[] = [];
    const texts: { said: string; x: number; y: number }[] = [];
    const pen = {
        line: (points: readonly number[]) => void lines.push(points),
        text: (said: string, x: number, y: number) => void texts.push({ said, x, y }),
        within: (_: unknown, draw: () => void) => draw(),
        measure: (said: string) => 7 * said.length,
    } as unknown as Pen;
    drawLines(pen, view, box, centre, INK);
    drawLabels(pen, view, box, centre, INK);
    return { lines, texts, said: texts.map(({ said }) => said) };
}

test('the whole sky: longitudes to the left, latitudes upwards, an outline', () => {
    const { lines, texts, said } = recorded(WHOLE, 180);
    for (const label of ['180°', '90°', '270°', '+30°', '−60°']) expect(said).toContain(label);
    const at = (label: string) => texts.find((one) => one.said === label)!;
    expect(at('270°').x).toBeLessThan(at('180°').x);
    expect(at('+30°').y).toBeLessThan(at('−30°').y);
    expect(at('180°').x).toBeCloseTo(400, 6);
    // 11 meridians, 5 parallels, the outline
    expect(lines).toHaveLength(17);
    for (const line of lines) expect(line.every(Number.isFinite)).toBe(true);
});

test('longitudes are whole steps also where the middle is none', () => {
    const { said } = recorded(WHOLE, 187);
    expect(said.filter((label) => /^[\d.]+°$/.test(label)).every((label) => parseFloat(label) % 30 === 0)).toBe(true);
});

test('close views have fine lines, labelled at the edges', () => {
    const view = equalizeScales({ u0: -0.001, u1: 0.001, v0: 0.3, v1: 0.301 }, BOX);
    const { lines, texts } = recorded(view, 83.6);
    expect(stepFor(view, BOX)).toBeLessThan(0.05);
    expect(lines.length).toBeGreaterThan(6);
    const longitudes = texts.filter(({ y }) => y > 380);
    expect(longitudes.length).toBeGreaterThan(3);
    expect(longitudes.every(({ said }) => Math.abs(parseFloat(said) - 83.6) < 0.2)).toBe(true);
    expect(texts.some(({ x, said }) => x < 10 && said.startsWith('+'))).toBe(true);
});

test('small maps have few lines; labels do not overlap', () => {
    const small = { left: 0, top: 0, width: 240, height: 120 };
    expect(stepFor(WHOLE, small)).toBe(60);
    const { texts } = recorded(WHOLE, 180, small);
    const xs = texts.filter(({ said }) => !/^[+−]/.test(said)).map(({ x }) => x).sort((a, b) => a - b); // prettier-ignore
    for (let k = 1; k < xs.length; k++) expect(xs[k]! - xs[k - 1]!).toBeGreaterThan(28);
});

test('outside the sky there is nothing', () => {
    const { texts } = recorded({ u0: 3, u1: 4, v0: 3, v1: 4 }, 0);
    expect(texts).toEqual([]);
    expect(directionAt(WHOLE, BOX, 5, 5, 0)).toBeUndefined();
    expect(directionAt(WHOLE, BOX, 400, 200, 30)).toEqual([30, 0]);
});
