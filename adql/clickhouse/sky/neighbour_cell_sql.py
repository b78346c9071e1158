"""The HEALPix cells around a position, as ClickHouse SQL; ``clickhouse_schema.adjacent_cells`` has their reach."""

from __future__ import annotations

import math

from clickhouse_schema.adjacent_cells import FACES, REACH, STEPS, TURNS
from clickhouse_schema.healpix import ORDER

#: Finer cells save nothing more.
_FINEST = 20


def order_for(radius: float) -> int | None:
    """The finest order whose touching cells hold everything within ``radius`` degrees; None if none does."""
    if not 0 <= math.radians(radius) < REACH:
        return None
    if radius <= farthest(_FINEST):  # also 0, and what a division by it would take beyond all numbers
        return _FINEST
    return math.floor(math.log2(REACH / math.radians(radius)))


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
    faces = f"{[face for beyond in FACES for face in beyond]}"
    turns = f"{[turn for beyond in TURNS for turn in beyond]}"
    steps = f"{[*STEPS]}"
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
