"""The HEALPix cells around a position, as ClickHouse SQL.

Every point within ``REACH`` / 2^order radians of a position is in the position's own cell of that order or in one that
touches it: no two points of cells that do not touch are nearer to each other (0.69 / 2^order where cells are narrowest,
at the corners of the polar caps; tests go along the borders of the cells of each kind).
"""

from __future__ import annotations

import math

from clickhouse_schema.healpix import ORDER

#: Radians at order 0
REACH = 0.6

#: Finer cells save nothing more.
_FINEST = 20

#: The base cell beyond each border of the base cells 0 to 11 (255: there is none): beyond S, SE, E, SW, in the cell
#: itself, beyond NE, W, NW, N, which is x below, in or above the cell's range + 3 * (the same of y).
_FACES = (
    (8, 9, 10, 11, 255, 255, 255, 255, 10, 11, 8, 9),
    (5, 6, 7, 4, 8, 9, 10, 11, 9, 10, 11, 8),
    (255, 255, 255, 255, 5, 6, 7, 4, 255, 255, 255, 255),
    (4, 5, 6, 7, 11, 8, 9, 10, 11, 8, 9, 10),
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
    (1, 2, 3, 0, 0, 1, 2, 3, 5, 6, 7, 4),
    (255, 255, 255, 255, 7, 4, 5, 6, 255, 255, 255, 255),
    (3, 0, 1, 2, 3, 0, 1, 2, 4, 5, 6, 7),
    (2, 3, 0, 1, 255, 255, 255, 255, 0, 1, 2, 3),
)

#: How the place turns there, for northern, equatorial and southern base cells: 1 mirrors x, 2 mirrors y, 4 swaps them.
_TURNS = ((0, 0, 3), (0, 0, 6), (0, 0, 0), (0, 0, 5), (0, 0, 0), (5, 0, 0), (0, 0, 0), (6, 0, 0), (3, 0, 0))


def order_for(radius: float) -> int | None:
    """The finest order whose touching cells hold everything within ``radius`` degrees; None if none does."""
    if not 0 <= math.radians(radius) < REACH:
        return None
    return _FINEST if radius == 0 else min(_FINEST, math.floor(math.log2(REACH / math.radians(radius))))


def farthest(order: int) -> float:
    """Degrees that the touching cells of an order reach; radii of less are held by them."""
    return math.degrees(REACH / (1 << order))


def cell(index: str, order: int) -> str:
    """SQL of the cell of ``order`` around an index of order 29: a function that the sort key serves."""
    return f"intDiv({index}, {4 ** (ORDER - order)})"


def cells_around(index: str, order: int) -> str:
    """SQL of an array: the cell of ``order`` around an index of order 29 and those that touch it, some twice.

    Empty for the index of an unknown position.
    """
    size, inside = 1 << order, 4**order - 1
    known = f"arrayFilter(c -> c < {12 * 4**order}, [bitShiftRight({index}, {2 * (ORDER - order)})])"
    faces = f"{[face for beyond in _FACES for face in beyond]}"
    turns = f"{[turn for beyond in _TURNS for turn in beyond]}"
    steps = f"{[(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)]}"
    # (base cell, x, y), each with its steps; then what lies beyond the base cell's borders; then the turned place
    own = f"arrayMap(c -> (intDiv(c, {4**order}), mortonDecode(2, bitAnd(c, {inside}))), {known})"
    stepped = (
        "arrayFlatten(arrayMap(c -> arrayMap(s -> (toInt64(c.1), toInt64(c.2.1) + s.1, toInt64(c.2.2) + s.2),"
        f" {steps}), {own}))"
    )
    placed = (
        f"arrayMap(c -> (c.1, bitAnd(c.2, {size - 1}), bitAnd(c.3, {size - 1}),"
        f" 1 + (c.2 >= {size}) - (c.2 < 0) + 3 * (1 + (c.3 >= {size}) - (c.3 < 0))), {stepped})"
    )
    beyond = f"arrayMap(c -> ({faces}[c.4 * 12 + c.1 + 1], c.2, c.3, {turns}[c.4 * 3 + intDiv(c.1, 4) + 1]), {placed})"
    turned = (
        f"arrayMap(c -> (c.1, toUInt32(bitXor(c.2, {size - 1} * bitAnd(c.4, 1))),"
        f" toUInt32(bitXor(c.3, {size - 1} * bitShiftRight(bitAnd(c.4, 2), 1))), c.4 >= 4), {beyond})"
    )
    there = f"arrayFilter(c -> c.1 < 12, {turned})"
    return (
        f"arrayMap(c -> toUInt64(c.1) * {4**order} + if(c.4, mortonEncode(c.3, c.2), mortonEncode(c.2, c.3)), {there})"
    )
