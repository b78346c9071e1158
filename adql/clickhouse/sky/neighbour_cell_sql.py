"""HEALPix cells of a row's index and the cells around it, as ClickHouse SQL.

``clickhouse_schema.adjacent_cells`` defines how far adjacent cells reach.
"""

from __future__ import annotations

from clickhouse_schema.adjacent_cells import FACES, STEPS, TURNS
from clickhouse_schema.healpix import ORDER


def cell_sql(index: str, order: int) -> str:
    """Return the cell of ``order`` around an index of order 29: monotonic in the sort key, so it selects granules."""
    return index if order == ORDER else f"intDiv({index}, {4 ** (ORDER - order)})"


def is_in_cells_sql(index: str, cells: tuple[tuple[int, tuple[int, ...]], ...]) -> str:
    """Whether an index of order 29 is in one of the (order, cells): one IN for each order, false without cells."""
    tests = [f"{cell_sql(index, order)} IN ({', '.join(map(str, of_order))})" for order, of_order in cells]
    return f"({' OR '.join(tests)})" if tests else "false"


def cells_around_sql(index: str, order: int) -> str:
    """Return an array of the cell of ``order`` around an index of order 29 and those that touch it, some twice.

    It is empty for the index of rows without a position.
    """
    size, inside = 1 << order, 4**order - 1
    known = f"arrayFilter(c -> c < {12 * 4**order}, [bitShiftRight({index}, {2 * (ORDER - order)})])"
    faces = f"{[face for beyond in FACES for face in beyond]}"
    turns = f"{[turn for beyond in TURNS for turn in beyond]}"
    steps = f"{[*STEPS]}"
    # (base cell, x, y); each with its steps; then the base cell beyond the border; then the turned place
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
