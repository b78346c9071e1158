"""The stored cover of a column of shapes: for each row one HEALPix cell, which its condition on a place is pruned by.

A shape lies in a cap: around the direction of the sum of its vertices (or centres), as wide as needed. The row's cell
is the one that holds the cap's centre, of the finest order whose caps are that wide: ``widest(order)``. So a shape of
order k that meets a region has its cell within ``widest(k)`` of it. Cells are numbered as they lie on the sky, the
larger before the smaller ones inside: ``first subcell of order 24 * 32 + order``. The cells inside a given one then are
one range of numbers, and the larger ones around it are few. Measured in ``tests/benchmarks/bench_footprints.py``.

The engine computes the number of circles and polygons as rows come in (``MATERIALIZED``). Of texts the loader does,
which reads them; without it their rows are found everywhere.
"""

from __future__ import annotations

from clickhouse_schema.datatypes import REGION_XTYPE, ColumnType
from clickhouse_schema.healpix import index_sql
from clickhouse_schema.quoting import quote_identifier

#: The finest order of a cover's cells: of 0.01 arcsec.
FINEST = 24

#: Numbers of a cell, one for each order
STEP = 32

#: Number of a row without a shape: no place is near it.
NOWHERE: int = 12 * 4**FINEST * STEP

#: Number of a shape that is in no cap of ``widest(0)``: every place is near it.
EVERYWHERE: int = NOWHERE + 1

#: Radians; of order 0
_WIDEST = 0.5


def widest(order: int) -> float:
    """Radius in radians of the caps whose cells are of ``order``."""
    return float(_WIDEST / 2**order)


def number(order: int, cell: int) -> int:
    """Number of a NESTED cell."""
    return cell * span(order) + order


def span(order: int) -> int:
    """Numbers from one cell of ``order`` to the next."""
    return STEP << (2 * (FINEST - order))


def has_cover(kind: ColumnType) -> bool:
    return kind.xtype in ("circle", "polygon") or is_read(kind)


def is_read(kind: ColumnType) -> bool:
    """Whether the loader reads the column's texts, and keeps what they stand for in a column of its own."""
    return kind.is_text and kind.xtype in (REGION_XTYPE, "moc")


def cover_column(name: str) -> str:
    """Name of the column that holds the covers of column ``name``."""
    return f"__cover_{name}"


def shape_column(name: str) -> str:
    """Name of the column that holds what the texts of column ``name`` stand for.

    Of regions, Array(Array(Float64)): shapes, each [term, 1 or -1 for its complement, numbers], the numbers those of
    DALI: 3 of a circle, 4 of a range, from 6 those of a polygon. A direction is in the region if it is in all shapes of
    some term. Where there are several shapes, the pieces of the border (``adql.clickhouse.sky.border_arc_sql``)
    follow, whose term is
    -1. Of MOCs, Array(UInt64): the first index of order 29 and the one after the last, of each range in ascending
    order.
    """
    return f"__shape_{name}"


def shape_type(kind: ColumnType) -> str:
    return "Array(UInt64)" if kind.xtype == "moc" else "Array(Array(Float64))"


def cover_sql(name: str, kind: ColumnType) -> str:
    """SQL of the number of a circle's or polygon's cell, UInt64.

    Names within start with __, which no column's does.
    """
    shape = quote_identifier(name)
    count, radius = ("1", f"radians({shape}[3])") if kind.xtype == "circle" else (f"intDiv(length({shape}), 2)", "0.")
    ra, dec = f"radians({shape}[2 * __i - 1])", f"radians({shape}[2 * __i])"
    vector = f"(cos({dec}) * cos({ra}), cos({dec}) * sin({ra}), sin({dec}))"
    vectors = f"arrayMap(__i -> {vector}, range(1, {count} + 1))"
    sums = {f"__{axis}": f"arraySum(__v -> __v.{i}, __all)" for i, axis in enumerate("xyz", 1)}
    apart = " + ".join(f"pow(__v.{i} - __{axis} / __n, 2)" for i, axis in enumerate("xyz", 1))
    cap = f"arrayMax(__v -> 2 * asin(least(sqrt({apart}) / 2, 1)), __all) + {radius}"
    centre = {"__lon": "degrees(atan2(__y, __x))", "__lat": "degrees(asin(__z / __n))", "__cap": cap}
    of_sum = f"if(__n > 1e-3, {_let(centre, _number('__lon', '__lat', '__cap'))}, {EVERYWHERE})"
    of_vectors = _let(sums, _let({"__n": "sqrt(__x * __x + __y * __y + __z * __z)"}, of_sum))
    return f"if(empty({shape}), {NOWHERE}, {_let({'__all': vectors}, of_vectors)})"


def _number(lon: str, lat: str, cap: str) -> str:
    order = f"toUInt8(least(floor(log2({_WIDEST} / {cap})), {FINEST}))"
    shift = f"(2 * ({FINEST} - {order}))"
    cell = f"bitShiftLeft(bitShiftRight({index_sql(lon, lat, FINEST)}, {shift}), {shift})"
    return f"multiIf({cap} <= {_WIDEST}, {cell} * {STEP} + {order}, isNaN({cap}), {NOWHERE}, {EVERYWHERE})"


def _let(values: dict[str, str], body: str) -> str:
    """``body`` with names for values, each computed once."""
    return f"arrayMap(({', '.join(values)}) -> {body}, {', '.join(f'[{v}]' for v in values.values())})[1]"
