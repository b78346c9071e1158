/** Tiles that fill a rectangle: rows and columns of tiles, nested, as plain data. */

/** A tile, or parts side by side (row) or below each other (column). */
export type Tiles = string | Split;

export interface Split {
    readonly along: 'row' | 'column';
    readonly parts: readonly Tiles[];
    /** of the length, one per part; their sum is 1 */
    readonly shares: readonly number[];
}

export const SIDES = ['left', 'right', 'up', 'down'] as const;
export type Side = (typeof SIDES)[number];

/** Least share that a part keeps. */
export const LEAST = 0.08;

const alongOf = (side: Side): Split['along'] => (side === 'left' || side === 'right' ? 'row' : 'column');
const isBefore = (side: Side): boolean => side === 'left' || side === 'up';

/** Return a split in its simplest form: without splits of the same direction inside, or the only part alone. */
export function joinParts(along: Split['along'], parts: readonly Tiles[], shares?: readonly number[]): Tiles {
    if (parts.length === 1) return parts[0]!;
    const given = parts.map((_, at) => Math.max(LEAST, shares?.[at] ?? 1));
    const flat = parts.flatMap((part, at) =>
        typeof part === 'string' || part.along !== along
            ? [{ part, share: given[at]! }]
            : part.parts.map((inner, k) => ({ part: inner, share: given[at]! * part.shares[k]! })),
    );
    const sum = flat.reduce((total, { share }) => total + share, 0);
    return { along, parts: flat.map(({ part }) => part), shares: flat.map(({ share }) => share / sum) };
}

/** Return the tiles from left to right and top to bottom. */
export const listTiles = (tiles: Tiles): string[] =>
    typeof tiles === 'string' ? [tiles] : tiles.parts.flatMap(listTiles);

/** Return the layout without the tiles that are not `kept`; undefined if none is left. */
export function keepTiles(tiles: Tiles, kept: (tile: string) => boolean): Tiles | undefined {
    if (typeof tiles === 'string') return kept(tiles) ? tiles : undefined;
    const left = tiles.parts.flatMap((part, at) => {
        const rest = keepTiles(part, kept);
        return rest === undefined ? [] : [{ rest, share: tiles.shares[at]! }];
    });
    if (left.length === 0) return undefined;
    return joinParts(
        tiles.along,
        left.map(({ rest }) => rest),
        left.map(({ share }) => share),
    );
}

/** Put a new tile next to another, which gives it half of its room. */
export function addNextTo(tiles: Tiles, target: string, side: Side, tile: string): Tiles {
    if (typeof tiles === 'string') {
        if (tiles !== target) return tiles;
        return joinParts(alongOf(side), isBefore(side) ? [tile, tiles] : [tiles, tile]);
    }
    const parts = tiles.parts.map((part) => addNextTo(part, target, side, tile));
    return joinParts(tiles.along, parts, tiles.shares);
}

/** Move a tile next to another. */
export function moveNextTo(tiles: Tiles, tile: string, target: string, side: Side): Tiles {
    if (tile === target) return tiles;
    const rest = keepTiles(tiles, (one) => one !== tile);
    return rest === undefined ? tiles : addNextTo(rest, target, side, tile);
}

/** Move a tile one step: past its neighbour on that side, out of its row or column, or to the edge. */
export function stepTile(tiles: Tiles, tile: string, side: Side): Tiles {
    if (typeof tiles === 'string') return tiles;
    return stepWithin(tiles, tile, side) ?? moveToEdge(tiles, tile, side);
}

function moveToEdge(tiles: Split, tile: string, side: Side): Tiles {
    const rest = keepTiles(tiles, (one) => one !== tile)!;
    const count = typeof rest !== 'string' && rest.along === alongOf(side) ? rest.parts.length : 1;
    const ends: [Tiles, number][] = [[tile, 1 / (count + 1)], [rest, count / (count + 1)]]; // prettier-ignore
    if (!isBefore(side)) ends.reverse();
    return joinParts(
        alongOf(side),
        ends.map(([part]) => part),
        ends.map(([, share]) => share),
    );
}

/** Return the layout after a step inside a split; undefined if the tile is at the split's edge on that side. */
function stepWithin(tiles: Tiles, tile: string, side: Side): Tiles | undefined {
    if (typeof tiles === 'string') return undefined;
    const at = tiles.parts.findIndex((part) => listTiles(part).includes(tile));
    const [parts, shares] = [[...tiles.parts], [...tiles.shares]];
    const inner = stepWithin(parts[at]!, tile, side);
    if (inner !== undefined) {
        parts[at] = inner;
        return joinParts(tiles.along, parts, shares);
    }
    const to = at + (isBefore(side) ? -1 : 1);
    if (tiles.along !== alongOf(side) || (parts[at] === tile && !parts[to])) return undefined;
    if (parts[at] === tile) {
        [parts[at], parts[to]] = [parts[to]!, tile];
        [shares[at], shares[to]] = [shares[to]!, shares[at]!];
        return joinParts(tiles.along, parts, shares);
    }
    // out of a column inside this row, or the other way round
    parts[at] = keepTiles(parts[at]!, (one) => one !== tile)!;
    const half = shares[at]! / 2;
    shares[at] = half;
    parts.splice(Math.max(at, to), 0, tile);
    shares.splice(Math.max(at, to), 0, half);
    return joinParts(tiles.along, parts, shares);
}

/** Make a tile wider (row) or taller (column) by a share of its row or column; negative: smaller. */
export function growTile(tiles: Tiles, tile: string, along: Split['along'], by: number): Tiles {
    if (typeof tiles === 'string') return tiles;
    const at = tiles.parts.findIndex((part) => listTiles(part).includes(tile));
    const inner = growTile(tiles.parts[at]!, tile, along, by);
    if (inner !== tiles.parts[at]) return { ...tiles, parts: tiles.parts.with(at, inner) };
    if (tiles.along !== along) return tiles;
    const [own, others] = [tiles.shares[at]!, tiles.parts.length - 1];
    const next = Math.min(1 - others * LEAST, Math.max(LEAST, own + by));
    const rest = (1 - next) / (1 - own);
    return joinParts(along, tiles.parts, tiles.shares.map((share, k) => (k === at ? next : share * rest))); // prettier-ignore
}

/** Move the border between two tiles, or the parts that they are in: the first gets this share of both. */
export function resizeBetween(tiles: Tiles, before: string, after: string, share: number): Tiles {
    if (typeof tiles === 'string') return tiles;
    const [one, other] = [before, after].map((tile) => tiles.parts.findIndex((part) => listTiles(part).includes(tile)));
    if (one === undefined || other === undefined || one < 0 || other < 0) return tiles;
    if (one === other)
        return { ...tiles, parts: tiles.parts.with(one, resizeBetween(tiles.parts[one]!, before, after, share)) };
    const both = tiles.shares[one]! + tiles.shares[other]!;
    const next = both * Math.min(1 - LEAST, Math.max(LEAST, share));
    return { ...tiles, shares: tiles.shares.with(one, next).with(other, both - next) };
}

/** Return tiles in a grid, about as many rows as columns. */
export function gridTiles(tiles: readonly string[]): Tiles {
    const across = Math.ceil(Math.sqrt(tiles.length));
    const rows = Array.from({ length: Math.ceil(tiles.length / across) }, (_, row) =>
        joinParts('row', tiles.slice(row * across, (row + 1) * across)),
    );
    return joinParts('column', rows);
}

export const PRESETS = ['sideBySide', 'over', 'grid'] as const;
export type Preset = (typeof PRESETS)[number];

/** Arrange the table and plots: side by side, the table over the plots, or all in a grid. */
export function arrangeTiles(preset: Preset, table: string, plots: readonly string[]): Tiles {
    if (plots.length === 0) return table;
    if (preset === 'grid') return gridTiles([table, ...plots]);
    if (preset === 'over') return joinParts('column', [table, joinParts('row', plots)]);
    const plotsPart = plots.length < 3 ? joinParts('column', plots) : gridTiles(plots);
    // the grid of plots needs more room than one column of them
    return { along: 'row', parts: [table, plotsPart], shares: plots.length < 3 ? [0.5, 0.5] : [0.36, 0.64] };
}

/** Read a layout of these tiles from JSON: unknown tiles are left out, missing ones added; undefined if it is none. */
export function readTiles(json: unknown, known: readonly string[]): Tiles | undefined {
    const left = new Set(known);
    const found = readPart(json, left, 0);
    if (found === undefined) return undefined;
    return [...left].reduce<Tiles>((tiles, tile) => joinParts('row', [tiles, tile]), found);
}

const DEEPEST = 8;

function readPart(json: unknown, left: Set<string>, depth: number): Tiles | undefined {
    if (typeof json === 'string') return left.delete(json) ? json : undefined;
    if (typeof json !== 'object' || json === null || depth > DEEPEST) return undefined;
    const { along, parts, shares } = json as Partial<Record<keyof Split, unknown>>;
    if ((along !== 'row' && along !== 'column') || !Array.isArray(parts)) return undefined;
    const read = parts.flatMap((part, at) => {
        const share = Array.isArray(shares) ? Number(shares[at]) : NaN;
        const tiles = readPart(part, left, depth + 1);
        return tiles === undefined ? [] : [{ tiles, share: share > 0 && share <= 1 ? share : 1 / parts.length }];
    });
    if (read.length === 0) return undefined;
    return joinParts(
        along,
        read.map(({ tiles }) => tiles),
        read.map(({ share }) => share),
    );
}
