import { describe, expect, test } from 'vitest';
import {
    addNextTo,
    arrangeTiles,
    gridTiles,
    growTile,
    joinParts,
    keepTiles,
    listTiles,
    moveNextTo,
    readTiles,
    resizeBetween,
    stepTile,
    type Split,
    type Tiles,
} from './tileLayout';
import { findDrop, findRoom, GAP, layOutTiles } from './tilePositions';

/** A layout as text: rows in brackets, columns in braces. */
function written(tiles: Tiles): string {
    if (typeof tiles === 'string') return tiles;
    const parts = tiles.parts.map(written).join(' ');
    return tiles.along === 'row' ? `[${parts}]` : `{${parts}}`;
}

/** Three tiles: a on the left, b above c on the right. */
const THREE = joinParts('row', ['a', joinParts('column', ['b', 'c'])]);
const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);

describe('tiles', () => {
    test('are put next to others, in the same row where there is one', () => {
        expect(written(addNextTo('a', 'a', 'right', 'b'))).toBe('[a b]');
        expect(written(addNextTo(THREE, 'a', 'left', 'd'))).toBe('[d a {b c}]');
        expect(written(addNextTo(THREE, 'c', 'right', 'd'))).toBe('[a {b [c d]}]');
        expect(written(addNextTo(THREE, 'a', 'up', 'd'))).toBe('[{d a} {b c}]');
        expect((addNextTo(THREE, 'a', 'left', 'd') as Split).shares).toEqual([0.25, 0.25, 0.5]);
    });
    test('leave their room to the others', () => {
        expect(written(keepTiles(THREE, (tile) => tile !== 'b')!)).toBe('[a c]');
        expect(written(keepTiles(THREE, (tile) => tile !== 'a')!)).toBe('{b c}');
        expect(keepTiles(THREE, () => false)).toBeUndefined();
    });
    test('are moved by a drop', () => {
        expect(written(moveNextTo(THREE, 'a', 'c', 'down'))).toBe('{b c a}');
        expect(written(moveNextTo(THREE, 'b', 'a', 'up'))).toBe('[{b a} c]');
        expect(moveNextTo(THREE, 'a', 'a', 'up')).toBe(THREE);
    });
    test('step past neighbours, out of their column, to the edge', () => {
        expect(written(stepTile(THREE, 'a', 'right'))).toBe('[{b c} a]');
        expect(written(stepTile(THREE, 'c', 'up'))).toBe('[a {c b}]');
        expect(written(stepTile(THREE, 'b', 'left'))).toBe('[a b c]');
        expect(written(stepTile(THREE, 'a', 'up'))).toBe('{a b c}');
        expect(written(stepTile(THREE, 'c', 'right'))).toBe('[a b c]');
        expect(written(stepTile('a', 'a', 'up'))).toBe('a');
    });
    test('no step loses a tile or leaves a gap', () => {
        let tiles: Tiles = gridTiles(['a', 'b', 'c', 'd', 'e']);
        for (let step = 0; step < 200; step++) {
            const tile = 'abcde'[(step * 7) % 5]!;
            tiles = stepTile(tiles, tile, (['left', 'up', 'right', 'down'] as const)[(step * 5) % 4]!);
            expect(listTiles(tiles).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
            if (typeof tiles !== 'string') expect(sum(tiles.shares)).toBeCloseTo(1, 9);
        }
    });
    test('grow at the cost of the others, which keep some room', () => {
        const [wide, rest] = (growTile(THREE, 'a', 'row', 0.1) as Split).shares;
        expect(wide).toBeCloseTo(0.6, 9);
        expect(rest).toBeCloseTo(0.4, 9);
        expect((growTile(THREE, 'a', 'row', 5) as Split).shares[1]).toBeCloseTo(0.08, 9);
        expect(((growTile(THREE, 'b', 'column', 0.2) as Split).parts[1] as Split).shares[0]).toBeCloseTo(0.7, 9);
        expect(growTile(THREE, 'a', 'column', 0.1)).toBe(THREE);
    });
    test('a divider moves the border of two parts, also where a tile between them is hidden', () => {
        expect((resizeBetween(THREE, 'a', 'b', 0.7) as Split).shares).toEqual([0.7, 1 - 0.7]);
        const row = joinParts('row', ['a', 'table', 'b']);
        const shares = (resizeBetween(row, 'a', 'b', 0.75) as Split).shares;
        expect(shares.map((share) => share.toFixed(3))).toEqual(['0.500', '0.333', '0.167']);
    });
    test('presets', () => {
        expect(written(arrangeTiles('sideBySide', 't', ['p']))).toBe('[t p]');
        expect(written(arrangeTiles('sideBySide', 't', ['p', 'q', 'r']))).toBe('[t {[p q] r}]');
        expect(written(arrangeTiles('over', 't', ['p', 'q']))).toBe('{t [p q]}');
        expect(written(arrangeTiles('grid', 't', ['p', 'q', 'r']))).toBe('{[t p] [q r]}');
        expect(arrangeTiles('over', 't', [])).toBe('t');
    });
    test('are read from JSON, whatever it is', () => {
        const copy: unknown = JSON.parse(JSON.stringify(THREE));
        expect(readTiles(copy, ['a', 'b', 'c'])).toEqual(THREE);
        expect(written(readTiles(copy, ['a', 'c', 'd'])!)).toBe('[a c d]');
        expect(written(readTiles({ along: 'row', parts: ['a', 'a', 7, null] }, ['a'])!)).toBe('a');
        for (const wrong of [undefined, null, 3, {}, [], { along: 'row', parts: [] }, { along: 'up', parts: ['a'] }])
            expect(readTiles(wrong, ['a'])).toBeUndefined();
    });
});

describe('positions', () => {
    const BOX = { left: 0, top: 0, width: 200 + GAP, height: 100 + GAP };
    const positions = layOutTiles(THREE, BOX);

    test('fill the box, with dividers between', () => {
        expect(positions.tiles.map(({ tile, box }) => [tile, box.left, box.top, box.width, box.height])).toEqual([
            ['a', 0, 0, 100, 107],
            ['b', 107, 0, 100, 50],
            ['c', 107, 57, 100, 50],
        ]);
        expect(positions.dividers.map(({ along, before, after, length, both }) => [along, before, after, length, both])).toEqual([['row', 'a', 'b', 100, 200], ['column', 'b', 'c', 50, 100]]); // prettier-ignore
    });
    test('a tile drops at the nearest side of another', () => {
        expect(findDrop(positions, 'a', 110, 25)).toMatchObject({ target: 'b', side: 'left' });
        expect(findDrop(positions, 'a', 150, 102)).toMatchObject({ target: 'c', side: 'down', box: { top: 82, height: 25 } }); // prettier-ignore
        expect(findDrop(positions, 'a', 50, 50)).toBeUndefined();
        expect(findDrop(positions, 'a', 500, 50)).toBeUndefined();
    });
    test('a new tile gets the larger half of the largest', () => {
        expect(findRoom(positions, ['a', 'b', 'c'])).toEqual({ target: 'a', side: 'down' });
        expect(findRoom(positions, ['b', 'c'])).toEqual({ target: 'b', side: 'right' });
        expect(findRoom(positions, [])).toBeUndefined();
    });
});
