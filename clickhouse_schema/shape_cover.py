"""The stored cover of a column of shapes: one HEALPix cell per row, so that conditions on positions skip granules.

A shape is inside a cap around the direction of the sum of its vertices (or centres), as wide as needed. The row's cell
contains the cap's centre; its order is the finest order whose ``cap_radius`` is at least as wide. So a shape of order k
that meets a region has its cell within ``cap_radius(k)`` of the region. Cells are numbered in their order on the sky,
larger cells before the smaller cells inside: ``first subcell of order 24 * 32 + order``. The cells inside a given cell
then have one range of numbers, and there are few larger cells around it. Measured in
``tests/benchmarks/bench_footprints.py``.

ClickHouse computes the numbers of circles and polygons when rows are inserted (``MATERIALIZED``): the SQL is here
because the DDL needs it. The loader computes the numbers of ranges and texts, which it parses; rows without a computed
number are found everywhere.
"""

from __future__ import annotations

from clickhouse_schema.datatypes import ColumnType
from clickhouse_schema.healpix import index_sql
from clickhouse_schema.let_sql import let_sql
from clickhouse_schema.quoting import quote_identifier

#: The finest order of the cells: 0.01 arcsec
FINEST_ORDER = 24

#: Numbers for each cell, one for each order
NUMBERS_PER_CELL = 32

#: Number of a row without a shape: no region is near it
NOWHERE: int = 12 * 4**FINEST_ORDER * NUMBERS_PER_CELL

#: Number of a shape that no cap of order 0 contains: every region is near it
EVERYWHERE: int = NOWHERE + 1

#: Radius in radians of the caps of order 0
_MAX_CAP_RADIUS = 0.5


def cap_radius(order: int) -> float:
    """Return the greatest radius of the caps whose cells are of an order.

    Parameters
    ----------
    order : int
        A HEALPix order.

    Returns
    -------
    float
        The radius in radians, halved by each order.
    """
    return float(_MAX_CAP_RADIUS / 2**order)


def cell_number(order: int, cell: int) -> int:
    """Return the number of a cell as a shape cover.

    Parameters
    ----------
    order : int
        The HEALPix order, from 0 to ``FINEST_ORDER``.
    cell : int
        The NESTED cell of this order.
    """
    return cell * number_span(order) + order


def number_span(order: int) -> int:
    """Return the difference between the numbers of one cell of an order and the next.

    Parameters
    ----------
    order : int
        The HEALPix order, from 0 to ``FINEST_ORDER``.

    Returns
    -------
    int
        The difference. Divided by it, the numbers of a cell and of all cells inside it have the same integer quotient.
    """
    return NUMBERS_PER_CELL << (2 * (FINEST_ORDER - order))


def has_cover(kind: ColumnType) -> bool:
    """Return whether columns of this type have a stored cover."""
    return kind.xtype in ("circle", "polygon") or kind.has_stored_shapes


def cover_column(name: str) -> str:
    """Return the name of the column that holds the shape covers of column ``name``."""
    return f"__cover_{name}"


def shape_column(name: str) -> str:
    """Return the name of the column that holds the shapes that the texts or ranges of column ``name`` define.

    Regions are Array(Array(Float64)): shapes, each [term, 1 or -1 for its complement, numbers]. The numbers are as in
    DALI: 3 of a circle, 4 of a range, 6 or more of a polygon. A direction is in the region if it is in all shapes of at
    least one term. Several shapes are followed by the border arcs (``adql.clickhouse.sky.border_arc_sql``), with term
    -1.

    MOCs are Array(UInt64): for each range, in ascending order, the first index of order 29 and the index after the
    last.
    """
    return f"__shape_{name}"


def shape_type(kind: ColumnType) -> str:
    """Return the ClickHouse type of ``shape_column``."""
    return "Array(UInt64)" if kind.xtype == "moc" else "Array(Array(Float64))"


def cover_sql(name: str, kind: ColumnType) -> str:
    """Return the SQL of the number of a circle's or polygon's cell.

    Parameters
    ----------
    name : str
        The name of the column of shapes. Names in the SQL start with __, unlike names of columns.
    kind : ColumnType
        The type of the column: of xtype circle or polygon.

    Returns
    -------
    str
        SQL of the number, UInt64; ``NOWHERE`` for an empty shape or one with NaN, ``EVERYWHERE`` for a shape that no
        cap of order 0 contains.
    """
    shape = quote_identifier(name)
    is_circle = kind.xtype == "circle"
    count, radius = ("1", f"radians({shape}[3])") if is_circle else (f"intDiv(length({shape}), 2)", "0.")
    ra, dec = f"radians({shape}[2 * __i - 1])", f"radians({shape}[2 * __i])"
    vector = f"(cos({dec}) * cos({ra}), cos({dec}) * sin({ra}), sin({dec}))"
    vectors = f"arrayMap(__i -> {vector}, range(1, {count} + 1))"
    sums = {f"__{axis}": f"arraySum(__v -> __v.{i}, __all)" for i, axis in enumerate("xyz", 1)}
    squared_chord = " + ".join(f"pow(__v.{i} - __{axis} / __n, 2)" for i, axis in enumerate("xyz", 1))
    cap = f"arrayMax(__v -> 2 * asin(least(sqrt({squared_chord}) / 2, 1)), __all) + {radius}"
    centre = {"__lon": "degrees(atan2(__y, __x))", "__lat": "degrees(asin(__z / __n))", "__cap": cap}
    of_sum = f"if(__n > 1e-3, {let_sql(centre, _number_sql('__lon', '__lat', '__cap'))}, {EVERYWHERE})"
    of_vectors = let_sql(sums, let_sql({"__n": "sqrt(__x * __x + __y * __y + __z * __z)"}, of_sum))
    return f"if(empty({shape}), {NOWHERE}, {let_sql({'__all': vectors}, of_vectors)})"


def _number_sql(lon: str, lat: str, cap: str) -> str:
    order = f"toUInt8(least(floor(log2({_MAX_CAP_RADIUS} / {cap})), {FINEST_ORDER}))"
    shift = f"(2 * ({FINEST_ORDER} - {order}))"
    cell = f"bitShiftLeft(bitShiftRight({index_sql(lon, lat, FINEST_ORDER)}, {shift}), {shift})"
    number = f"{cell} * {NUMBERS_PER_CELL} + {order}"
    return f"multiIf({cap} <= {_MAX_CAP_RADIUS}, {number}, isNaN({cap}), {NOWHERE}, {EVERYWHERE})"
