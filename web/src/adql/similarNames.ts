/** The name that a user probably meant. */

/** Return the most similar name, ignoring case; undefined if none is similar. */
export function findSimilar(name: string, names: readonly string[]): string | undefined {
    const wanted = name.toLowerCase();
    const most = Math.max(1, Math.floor(wanted.length / 3));
    const found = names
        .map((other) => ({ other, edits: countEdits(wanted, other.toLowerCase()) }))
        .filter(({ other, edits }) => edits <= most || other.toLowerCase().startsWith(wanted))
        .toSorted((one, two) => one.edits - two.edits);
    return found[0]?.other;
}

/** Count insertions, deletions, substitutions and exchanges of neighbours (optimal string alignment). */
function countEdits(one: string, other: string): number {
    let [before, last] = [[] as number[], Array.from({ length: other.length + 1 }, (_, at) => at)];
    for (let row = 1; row <= one.length; row++) {
        const next = [row];
        for (let at = 1; at <= other.length; at++) {
            const substituted = last[at - 1]! + Number(one[row - 1] !== other[at - 1]);
            next[at] = Math.min(last[at]! + 1, next[at - 1]! + 1, substituted);
            if (row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1])
                next[at] = Math.min(next[at]!, before[at - 2]! + 1);
        }
        [before, last] = [last, next];
    }
    return last[other.length]!;
}
