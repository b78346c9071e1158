"""The HEALPix cell of a row's index, adjacent cells, and cells beyond a border, as ClickHouse SQL.

``clickhouse_schema.adjacent_cells`` defines how far adjacent cells reach, and the width of the border in which a row
may have anything within a radius in another cell.
"""

from __future__ import annotations

from clickhouse_schema.adjacent_cells import FACES, STEPS, TURNS, find_border_width
from clickhouse_schema.healpix import NO_POSITION, ORDER

_NO_STEP = STEPS.index((0, 0))


def cell_sql(index: str, order: int) -> str:
    """Return the cell of ``order`` that contains an index of order 29; monotonic, so that it selects granules."""
    return index if order == ORDER else f"intDiv({index}, {4 ** (ORDER - order)})"


def is_in_cells_sql(index: str, cells: tuple[tuple[int, tuple[int, ...]], ...]) -> str:
    """Return the test whether an index is in one of several HEALPix cells.

    Parameters
    ----------
    index
        SQL of an index of order 29.
    cells
        Pairs of an order and the NESTED cells of this order.

    Returns
    -------
    str
        A condition with one IN for each order; 'false' without cells.
    """
    tests = [f"{cell_sql(index, order)} IN ({', '.join(map(str, of_order))})" for order, of_order in cells]
    return f"({' OR '.join(tests)})" if tests else "false"


def cells_around_sql(index: str, order: int) -> str:
    """Return an array of the cell of ``order`` that contains an index of order 29, and of its neighbours.

    Some cells occur twice. The array is empty for the index of rows without a position.
    """
    steps = f"range(if({index} < {NO_POSITION}, {len(STEPS)}, 0))"
    return f"arrayFilter(c -> c < {12 * 4**order}, arrayMap(step -> {cell_beyond_sql(index, 'step', order)}, {steps}))"


def is_at_border_sql(index: str, order: int, radius: float) -> str:
    """Return the test whether something within ``radius`` degrees of an index may be outside its cell of ``order``."""
    size, width = 1 << (ORDER - order), find_border_width(radius)
    tests = (f"{c} < {width} OR {c} >= {size - width}" for c in _coordinates_in_cell_sql(index, order))
    return f"({' OR '.join(tests)})"


def steps_over_border_sql(index: str, order: int, radius: float) -> str:
    """Return a row for each step to a cell that may have anything within the radius of the index.

    A step is an index of ``STEPS``. The cells of ``order`` are at least twice as wide as the border.
    """
    size, width = 1 << (ORDER - order), find_border_width(radius)
    across, up = (
        f"(toInt8({c} >= {size - width}) - toInt8({c} < {width}))" for c in _coordinates_in_cell_sql(index, order)
    )
    steps = [[STEPS.index(step) for step in {(x, 0), (0, y), (x, y)} - {(0, 0)}] for x, y in STEPS]
    return f"arrayJoin({[sorted(numbers) for numbers in steps]}[{across} + 3 * {up} + {_NO_STEP + 1}])"


def cell_beyond_sql(index: str, step: str, order: int) -> str:
    """Return the cell of ``order`` that a step (an index of ``STEPS``) reaches from the cell of an index of order 29.

    Parts of the formula have names, so a SELECT may contain it only once. Where three base cells meet, no cell is
    beyond the corner, and the result is above the numbers of all cells.
    """
    size = 1 << order
    coordinates = f"(mortonDecode(2, bitAnd(bitShiftRight({index}, {2 * (ORDER - order)}), {4**order - 1})) AS __place)"
    x = f"(toInt32({coordinates}.1) + toInt32({step} % 3) - 1 AS __x)"
    y = f"(toInt32(__place.2) + toInt32(intDiv({step}, 3)) - 1 AS __y)"
    beyond = f"1 + ({x} >= {size}) - (__x < 0) + 3 * (1 + ({y} >= {size}) - (__y < 0))"
    there = f"({_BEYOND}[({beyond}) * 12 + bitShiftRight({index}, {2 * ORDER}) + 1] AS __there)"
    across, up = (
        f"(toUInt32(bitXor(bitAnd({name}, {size - 1}), {size - 1} * bitTest(__there, {bit}))) AS {name}_there)"
        for bit, name in enumerate(("__x", "__y"))
    )
    return (
        f"(toUInt64(bitShiftRight({there}, 3)) * {size * size}"
        f" + if(bitTest(__there, 2), mortonEncode({up}, {across}), mortonEncode(__x_there, __y_there)))"
    )


#: ``FACES`` by border and base cell, with ``TURNS`` in the lowest three bits
_BEYOND = [
    (face << 3) + TURNS[border][base // 4] for border, faces in enumerate(FACES) for base, face in enumerate(faces)
]


def _coordinates_in_cell_sql(index: str, order: int) -> tuple[str, str]:
    coordinates = f"mortonDecode(2, bitAnd({index}, {4 ** (ORDER - order) - 1}))"
    return f"{coordinates}.1", f"{coordinates}.2"
