import { expect, test } from 'vitest';
import { fitLine } from '../layers/lineFit';
import { drawFitted } from './planeScripts';

test('a script draws the line as it was fitted, in logarithms on a log axis', () => {
    const [x, y] = [Float64Array.of(0, 1, 2, 3), Float64Array.of(1, 3.5, 4.5, 7)];
    const fit = fitLine({ x, y, members: Uint32Array.of(0, 1, 2, 3) })!;
    const lines = drawFitted(fit, { u0: 3, u1: 0 }, [{ log: false }, { log: true }]);
    expect(lines[0]).toBe('line_x = np.linspace(0, 3, 65)');
    expect(lines[1]).toMatch(/^line_y = 1.15\d* \+ 1.9\d* \* line_x$/);
    expect(lines.at(-1)).toBe('ax.plot(line_x, 10 ** (line_y), color="C3")');
});
