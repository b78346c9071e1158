/** Lines of equal value of a grid: marching squares. */

interface Grid {
    readonly values: Float64Array;
    readonly columns: number;
    readonly rows: number;
}

/** Two edges of the grid that a line connects. Edges have even numbers along rows, odd ones along columns. */
type Link = (one: number, other: number) => void;

/** Return the lines at a level, as x, y, x, y ... in steps of the grid; closed ones end where they begin. */
export function contourLines(grid: Grid, level: number): number[][] {
    // an edge has at most two neighbours on its line
    const links = new Int32Array(4 * grid.columns * grid.rows).fill(-1);
    const join: Link = (one, other) => {
        links[2 * one + (links[2 * one]! < 0 ? 0 : 1)] = other;
        links[2 * other + (links[2 * other]! < 0 ? 0 : 1)] = one;
    };
    for (let j = 0; j < grid.rows - 1; j++)
        for (let i = 0; i < grid.columns - 1; i++) linkSquare(grid, level, i, j, join);
    return traceLines(grid, level, links);
}

function linkSquare({ values, columns }: Grid, level: number, i: number, j: number, join: Link): void {
    const at = j * columns + i;
    const [a, b, c, d] = [values[at]!, values[at + 1]!, values[at + columns + 1]!, values[at + columns]!];
    const [highA, highB, highC, highD] = [a >= level, b >= level, c >= level, d >= level];
    if (highA === highB && highB === highC && highC === highD) return;
    const edges = { ab: 2 * at, bc: 2 * (at + 1) + 1, dc: 2 * (at + columns), ad: 2 * at + 1 };
    if (highA === highC && highB === highD) {
        // a saddle: the middle decides which corners lie apart
        const apart = highA === (a + b + c + d) / 4 >= level;
        join(edges.ab, apart ? edges.bc : edges.ad);
        join(edges.dc, apart ? edges.ad : edges.bc);
        return;
    }
    const crossed = [
        ...(highA !== highB ? [edges.ab] : []),
        ...(highB !== highC ? [edges.bc] : []),
        ...(highD !== highC ? [edges.dc] : []),
        ...(highA !== highD ? [edges.ad] : []),
    ];
    join(crossed[0]!, crossed[1]!);
}

function traceLines(grid: Grid, level: number, links: Int32Array): number[][] {
    const done = new Uint8Array(links.length / 2);
    const lines: number[][] = [];
    // lines that end at the border first, so that the rest are closed
    for (const open of [true, false]) {
        for (let edge = 0; edge < done.length; edge++) {
            if (done[edge] || links[2 * edge]! < 0 || (open && links[2 * edge + 1]! >= 0)) continue;
            lines.push(traceFrom(grid, level, links, done, edge));
        }
    }
    return lines;
}

function traceFrom(grid: Grid, level: number, links: Int32Array, done: Uint8Array, first: number): number[] {
    const line: number[] = [];
    let edge = first;
    while (edge >= 0) {
        done[edge] = 1;
        line.push(...placeOnEdge(grid, level, edge));
        const [one, other] = [links[2 * edge]!, links[2 * edge + 1]!];
        edge = one >= 0 && !done[one] ? one : other >= 0 && !done[other] ? other : -1;
    }
    const closed = links[2 * first + 1]! >= 0;
    if (closed) line.push(line[0]!, line[1]!);
    return line;
}

function placeOnEdge({ values, columns }: Grid, level: number, edge: number): [number, number] {
    const at = edge >> 1;
    const upright = edge % 2 === 1;
    const [from, to] = [values[at]!, values[at + (upright ? columns : 1)]!];
    const part = (level - from) / (to - from);
    const [i, j] = [at % columns, Math.floor(at / columns)];
    return upright ? [i, j + part] : [i + part, j];
}
