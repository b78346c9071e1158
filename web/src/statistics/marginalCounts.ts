/** Histograms along both axes, from the counts of pixels. */

export interface MarginalCounts {
    /** rows per pixel of each bin, from the left and from the top */
    readonly across: Float64Array;
    readonly down: Float64Array;
}

/** Return the first pixel of each bin, and the end. */
const binEdges = (pixels: number, bins: number) =>
    Uint32Array.from({ length: bins + 1 }, (_, bin) => Math.round((bin * pixels) / bins));

/** Sum the counts of pixels, by rows from the top, in about equal bins. */
export function sumMargins(
    hits: Float32Array,
    { width, height }: { width: number; height: number },
    bins: { across: number; down: number },
): MarginalCounts {
    const [columns, rows] = [new Float64Array(width), new Float64Array(height)];
    for (let j = 0, at = 0; j < height; j++) {
        let sum = 0;
        for (let i = 0; i < width; i++, at++) {
            const hit = hits[at]!;
            if (hit === 0) continue;
            sum += hit;
            columns[i]! += hit;
        }
        rows[j] = sum;
    }
    return { across: sumBins(columns, bins.across), down: sumBins(rows, bins.down) };
}

/** Bins differ by a pixel in width: their heights are rows per pixel. */
function sumBins(sums: Float64Array, bins: number): Float64Array {
    const edges = binEdges(sums.length, bins);
    return Float64Array.from({ length: bins }, (_, bin) => {
        const own = sums.subarray(edges[bin]!, edges[bin + 1]!);
        return own.reduce((sum, value) => sum + value, 0) / Math.max(1, own.length);
    });
}
