/** Round numbers at equal steps. */

/** Return the step of 1, 2 or 5 times a power of ten that divides a span into about `parts` parts. */
export function niceStep(span: number, parts: number): number {
    const rough = span / Math.max(1, parts);
    const power = 10 ** Math.floor(Math.log10(rough));
    const factor = [1, 2, 5, 10].find((step) => step * power >= rough * 0.7) ?? 10;
    return factor * power;
}

/** Return the multiples of a step between two ends in any order; at most 1,000. */
export function multiplesWithin(from: number, to: number, step: number): number[] {
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    const first = Math.ceil(low / step - 1e-9);
    const count = Math.min(1000, Math.floor(high / step + 1e-9) - first + 1);
    return Number.isFinite(count) && count > 0 ? Array.from({ length: count }, (_, k) => (first + k) * step) : [];
}
