/** Counts in cells as a smooth density, and the levels of its contours. */

export interface Cells {
    readonly counts: ArrayLike<number>;
    readonly columns: number;
    readonly rows: number;
}

/** Smooth counts with a Gaussian of `sigma` cells. Cells beyond the edges are empty. */
export function smoothCounts({ counts, columns, rows }: Cells, sigma: number): Float64Array<ArrayBuffer> {
    const kernel = gaussianKernel(sigma);
    const across = new Float64Array(columns * rows);
    for (let j = 0; j < rows; j++) spread(counts, across, kernel, { from: j * columns, step: 1, length: columns });
    const smooth = new Float64Array(columns * rows);
    for (let i = 0; i < columns; i++) spread(across, smooth, kernel, { from: i, step: columns, length: rows });
    return smooth;
}

/** Return half a Gaussian of sum 1, from its middle to four standard deviations. */
function gaussianKernel(sigma: number): Float64Array {
    const half = Float64Array.from({ length: Math.ceil(4 * sigma) + 1 }, (_, k) => Math.exp(-0.5 * (k / sigma) ** 2));
    const sum = half.reduce((total, value, k) => total + (k === 0 ? value : 2 * value), 0);
    return half.map((value) => value / sum);
}

function spread(
    from: ArrayLike<number>,
    to: Float64Array,
    kernel: Float64Array,
    line: { from: number; step: number; length: number },
): void {
    for (let k = 0; k < line.length; k++) {
        const value = from[line.from + k * line.step]!;
        if (value === 0) continue;
        const last = Math.min(line.length - 1, k + kernel.length - 1);
        for (let at = Math.max(0, k - kernel.length + 1); at <= last; at++)
            to[line.from + at * line.step]! += value * kernel[Math.abs(at - k)]!;
    }
}

/**
 * Return the densities at or above which the cells hold fractions of the counts. `within` marks the cells that are counted.
 */
export function enclosingLevels(
    counts: ArrayLike<number>,
    density: Float64Array,
    fractions: readonly number[],
    within: (cell: number) => boolean = () => true,
): number[] {
    const cells = Uint32Array.from([...density.keys()].filter((cell) => counts[cell]! > 0 && within(cell)));
    cells.sort((one, other) => density[other]! - density[one]!);
    const total = cells.reduce((sum, cell) => sum + counts[cell]!, 0);
    const levels: number[] = [];
    let [sum, at] = [0, 0];
    for (const fraction of [...fractions].sort((one, other) => one - other)) {
        while (at < cells.length && sum < fraction * total) sum += counts[cells[at++]!]!;
        if (at > 0) levels.push(density[cells[at - 1]!]!);
    }
    return levels;
}
