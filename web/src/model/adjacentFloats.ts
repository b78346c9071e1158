/** The neighbours of a number in its type. */

/** Return the next double above (1) or below (-1). */
export function nextDouble(value: number, direction: 1 | -1): number {
    if (!Number.isFinite(value)) return value;
    if (value === 0) return direction * Number.MIN_VALUE;
    const bits = new BigInt64Array(Float64Array.of(value).buffer);
    bits[0] = bits[0]! + (value > 0 === direction > 0 ? 1n : -1n);
    return new Float64Array(bits.buffer)[0]!;
}

/** Return the next float above (1) or below (-1). */
export function nextFloat(value: number, direction: 1 | -1): number {
    if (!Number.isFinite(value)) return value;
    if (value === 0) return direction * 2 ** -149;
    const bits = new Int32Array(Float32Array.of(value).buffer);
    bits[0]! += value > 0 === direction > 0 ? 1 : -1;
    return new Float32Array(bits.buffer)[0]!;
}
