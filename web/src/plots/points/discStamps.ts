/** Stamps pixels as discs. */

/** The pixels of a disc around its middle, and their weights: 1 inside, less at the rim. */
interface Disc {
    readonly reach: number;
    readonly across: Int32Array;
    readonly down: Int32Array;
    readonly weights: Float32Array;
}

function makeDisc(radius: number): Disc {
    const reach = Math.ceil(radius);
    const members: [number, number, number][] = [];
    for (let j = -reach; j <= reach; j++) {
        for (let i = -reach; i <= reach; i++) {
            const weight = Math.max(0, Math.min(1, radius + 0.5 - Math.hypot(i, j)));
            if (weight > 0) members.push([i, j, weight]);
        }
    }
    return {
        reach,
        across: Int32Array.from(members, ([i]) => i),
        down: Int32Array.from(members, ([, j]) => j),
        weights: Float32Array.from(members, ([, , weight]) => weight),
    };
}

/** Return layers in which every pixel of the given ones is a disc. The first layer says which pixels have points. */
export function stampDiscs(
    layers: readonly Float32Array[],
    { width, height }: { width: number; height: number },
    radius: number,
): Float32Array[] {
    const { reach, across, down, weights } = makeDisc(radius);
    const steps = down.map((j, k) => j * width + across[k]!);
    const hits = layers[0]!;
    const result = layers.map(() => new Float32Array(width * height));
    for (let y = 0, at = 0; y < height; y++) {
        const isInner = y >= reach && y < height - reach;
        for (let x = 0; x < width; x++, at++) {
            if (hits[at] === 0) continue;
            const isWhole = isInner && x >= reach && x < width - reach;
            for (let k = 0; k < steps.length; k++) {
                if (!isWhole && !isWithin(x + across[k]!, y + down[k]!, width, height)) continue;
                for (let layer = 0; layer < layers.length; layer++)
                    result[layer]![at + steps[k]!]! += weights[k]! * layers[layer]![at]!;
            }
        }
    }
    return result;
}

const isWithin = (x: number, y: number, width: number, height: number) => x >= 0 && y >= 0 && x < width && y < height;
