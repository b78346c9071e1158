/** Positions of the tiles of a layout and of the dividers between them, and the target of a dragged tile. */

import type { Box } from '../canvas/plotView';
import { listTiles, type Side, type Split, type Tiles } from './tileLayout';

export interface PlacedTile {
    readonly tile: string;
    readonly box: Box;
}

/** The divider between two parts of a split. */
export interface Divider {
    readonly along: Split['along'];
    readonly box: Box;
    /** the first tiles of both parts */
    readonly before: string;
    readonly after: string;
    /** length of the part before it and of both parts, in pixels */
    readonly length: number;
    readonly both: number;
}

export interface TilePositions {
    readonly tiles: readonly PlacedTile[];
    readonly dividers: readonly Divider[];
}

/** Width of a divider, in CSS pixels. */
export const GAP = 7;

/** Return the positions of all tiles and dividers in a box. */
export function layOutTiles(tiles: Tiles, box: Box): TilePositions {
    if (typeof tiles === 'string') return { tiles: [{ tile: tiles, box }], dividers: [] };
    const row = tiles.along === 'row';
    const whole = (row ? box.width : box.height) - GAP * (tiles.parts.length - 1);
    const [placed, dividers]: [PlacedTile[], Divider[]] = [[], []];
    let from = row ? box.left : box.top;
    tiles.parts.forEach((part, at) => {
        const length = Math.max(0, tiles.shares[at]! * whole);
        const inner = layOutTiles(part, stripOf(box, row, from, length));
        placed.push(...inner.tiles);
        dividers.push(...inner.dividers);
        from += length;
        if (at === tiles.parts.length - 1) return;
        const both = length + tiles.shares[at + 1]! * whole;
        const strip = stripOf(box, row, from, GAP);
        const [before, after] = [part, tiles.parts[at + 1]!].map((one) => listTiles(one)[0]!) as [string, string];
        dividers.push({ along: tiles.along, box: strip, before, after, length, both });
        from += GAP;
    });
    return { tiles: placed, dividers };
}

function stripOf(box: Box, row: boolean, from: number, length: number): Box {
    return row ? { ...box, left: from, width: length } : { ...box, top: from, height: length };
}

/** The target of a dragged tile: next to which tile, and the box that it gets. */
export interface Drop {
    readonly target: string;
    readonly side: Side;
    readonly box: Box;
}

/** Return the target of a tile dropped at (x, y); undefined if it does not move. */
export function findDrop({ tiles }: TilePositions, dragged: string, x: number, y: number): Drop | undefined {
    const over = tiles.find(
        ({ box }) => x >= box.left && x < box.left + box.width && y >= box.top && y < box.top + box.height,
    );
    if (!over || over.tile === dragged) return undefined;
    const { box, tile } = over;
    const [right, down] = [(x - box.left) / box.width - 0.5, (y - box.top) / box.height - 0.5];
    const side = Math.abs(right) > Math.abs(down) ? (right < 0 ? 'left' : 'right') : down < 0 ? 'up' : 'down';
    const [width, height] = [box.width / 2, box.height / 2];
    const half: Record<Side, Box> = {
        left: { ...box, width },
        right: { ...box, left: box.left + width, width },
        up: { ...box, height },
        down: { ...box, top: box.top + height, height },
    };
    return { target: tile, side, box: half[side] };
}

/** Return the target of a new tile: a half of the largest tile in `among`. */
export function findRoom(
    { tiles }: TilePositions,
    among: readonly string[],
): { target: string; side: Side } | undefined {
    const area = ({ box }: PlacedTile) => box.width * box.height;
    const [largest] = tiles.filter(({ tile }) => among.includes(tile)).sort((one, other) => area(other) - area(one));
    if (!largest) return undefined;
    // a plot is usually wider than tall
    return { target: largest.tile, side: largest.box.width > 1.3 * largest.box.height ? 'right' : 'down' };
}
