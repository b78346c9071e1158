import { expect, test } from 'vitest';
import { chooseGrid } from '../../statistics/lombScargle';
import { computePeriodogram } from '../../statistics/periodogramWorker';
import { centreBands } from './curveSeries';

test('two bands with different means give the period of their star', () => {
    const times = Float64Array.from({ length: 60 }, (_, k) => k * 0.9 + 0.3 * Math.sin(7 * k));
    const bands = times.map((_, k) => k % 2);
    const values = times.map((time, k) => 12 - 5 * bands[k]! + 0.3 * Math.cos((2 * Math.PI * time) / 2.3));
    const grid = chooseGrid(times)!;
    const { peaks } = computePeriodogram({ series: { times, values: centreBands(values, bands) }, grid });
    expect(1 / peaks[0]!.frequency).toBeCloseTo(2.3, 1);
});
