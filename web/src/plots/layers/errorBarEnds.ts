/** The ends of error bars in scaled values. */

import type { AxisErrors } from '../points/plotData';

/** Return both ends of an error bar in scaled values; a bar without a logarithm has no lower end. */
export function barEnds(value: number, row: number, { low, high, log }: AxisErrors): [number, number] {
    const [down, up] = [low[row]!, high[row]!];
    if (!log) return [value - down, value + up];
    const plain = 10 ** value;
    return [plain > down ? Math.log10(plain - down) : -Infinity, Math.log10(plain + up)];
}

/** Return the mean half error of a row in scaled values: the error of a logarithm on a log axis. */
export function scaledError(value: number, row: number, { low, high, log }: AxisErrors): number {
    const mean = (low[row]! + high[row]!) / 2;
    return log ? mean / (10 ** value * Math.LN10) : mean;
}
