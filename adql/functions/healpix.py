"""Functions of HEALPix indices."""

from __future__ import annotations

from adql.functions.function import Function, Parameter
from clickhouse_schema.datatypes import LONG
from clickhouse_schema.healpix import index_sql


def _healpix(order: str, lon: str, lat: str) -> str:
    """Positions that have no pixel get the number after the last one, which to a user is NULL."""
    return f"toInt64(nullIf({index_sql(lon, lat, int(order))}, {12 * 4 ** int(order)}))"


def _healpix_of_point(order: str, point: str) -> str:
    return _healpix(order, f"arrayElementOrNull({point}, 1)", f"arrayElementOrNull({point}, 2)")


_ORDER = Parameter("hpxOrder", "order", "INTEGER")

HEALPIX = (
    Function(
        "ivo_healpix_index",
        (_ORDER, Parameter("long", "number", "REAL"), Parameter("lat", "number", "REAL")),
        LONG, _healpix,
        "Index of the HEALPix pixel (NESTED) of order hpxOrder that contains the position (long, lat) in degrees.",
        returns="BIGINT",
    ),
    Function(
        "ivo_healpix_index",
        (_ORDER, Parameter("p", "point", "POINT")),
        LONG, _healpix_of_point,
        "Index of the HEALPix pixel (NESTED) of order hpxOrder that contains the point.",
        returns="BIGINT",
    ),
)  # fmt: skip
