"""Functions of pixel indices: HEALPix and q3c."""

from __future__ import annotations

import math

from adql.errors import Span
from adql.functions.function import Function, Parameter
from adql.ir import Call, Expr
from clickhouse_schema.conjunction_sql import all_sql
from clickhouse_schema.datatypes import DOUBLE, LONG, POINT
from clickhouse_schema.healpix import index_sql

#: A longer operand is bound to a name, because the formula of the index repeats each operand fifty times
_MAX_REPEATED_CHARACTERS = 60


def _healpix_sql(order: str, lon: str, lat: str) -> str:
    """Return the SQL of the index; it is NULL for a position without an index."""
    if len(lon) > _MAX_REPEATED_CHARACTERS or len(lat) > _MAX_REPEATED_CHARACTERS:
        return f"arrayMap((lon, lat) -> {_index_sql(order, 'lon', 'lat')}, [{lon}], [{lat}])[1]"
    return _index_sql(order, lon, lat)


def _point_healpix_sql(order: str, point: str) -> str:
    index = _index_sql(order, "arrayElementOrNull(p, 1)", "arrayElementOrNull(p, 2)")
    return f"arrayMap(p -> {index}, [{point}])[1]"


def _index_sql(order: str, lon: str, lat: str) -> str:
    return f"toInt64(nullIf({index_sql(lon, lat, int(order))}, {12 * 4 ** int(order)}))"


def _expand_center(args: tuple[Expr, ...], span: Span) -> Expr:
    coordinates = (Call(DOUBLE, "PIXEL LON", args), Call(DOUBLE, "PIXEL LAT", args))
    return Call(POINT, "POINT", coordinates, span=span)


class _Pixel:
    """SQL of the centre of pixel ``i`` at a literal order, by the formulas of ``clickhouse_schema.healpix``."""

    def __init__(self, order: str) -> None:
        self.nside = 1 << int(order)
        base = f"intDiv(i, {self.nside**2})"
        self.row = f"intDiv({base}, 4)"  # row of base pixels: 0 north, 1 equator, 2 south
        in_base = f"mortonDecode(2, toUInt64(ifNull(positiveModulo(i, {self.nside**2}), 0)))"
        self.x, self.y = f"toInt64({in_base}.1)", f"toInt64({in_base}.2)"
        self.ring = f"((2 + {self.row}) * {self.nside} - {self.x} - {self.y} - 1)"
        #: number of the ring within its polar cap, at most nside
        self.cap = f"least({self.ring}, {4 * self.nside} - {self.ring}, {self.nside})"
        self.eighth = f"(2 * modulo({base}, 4) + ({self.row} != 1))"

    def longitude_sql(self, index: str) -> str:
        turned = f"positiveModulo(45 * ({self.eighth} + ({self.x} - {self.y}) / {self.cap}), 360.)"
        return self._center_sql(index, turned)

    def latitude_sql(self, index: str) -> str:
        from_pole = f"(90 - 2 * degrees(asin({self.cap} / {math.sqrt(6) * self.nside!r})))"
        between = f"degrees(asin(({2 * self.nside} - {self.ring}) * 2 / {3 * self.nside}))"
        in_caps = f"if({self.ring} < {self.nside}, {from_pole}, -{from_pole})"
        return self._center_sql(index, f"if({self.cap} < {self.nside}, {in_caps}, {between})")

    def _center_sql(self, index: str, value: str) -> str:
        """Bind the index, an expression of any length, to the name ``i``."""
        known = f"if({all_sql('i >= 0', f'i < {12 * self.nside**2}')}, {value}, NULL)"
        return f"arrayMap(i -> {known}, [{index}])[1]"


def _source_id_sql(order: str, source_id: str) -> str:
    """Return the SQL of the index: a source_id of Gaia is the index at order 12 times 2^35, plus a remainder."""
    return f"if({source_id} >= 0, intDiv({source_id}, {2**35 * 4 ** (12 - int(order))}), NULL)"


_Q3C_SIDE = 1 << 30


def _q3c_sql(lon: str, lat: str) -> str:
    """Return the SQL of the index on a cube whose faces are quad-trees (Koposov & Bartunov 2006, ASP Conf. 351, 735).

    Face 0 surrounds the north pole, 1 to 4 the equator from longitude 0, 5 the south pole.
    """
    ra, dec = f"positiveModulo(toFloat64({lon}), 360.)", f"radians(toFloat64({lat}))"
    side = f"intDiv(modulo({ra} + 45, 360.), 90)"
    across, up = f"tan(radians({ra} - 90 * {side}))", f"tan({dec}) / cos(radians({ra} - 90 * {side}))"
    face = f"multiIf({up} > 1, 0, {up} < -1, 5, {side} + 1)"
    at_pole = f"sin(radians({ra})) / tan({dec})"
    x = f"multiIf({up} > 1, {at_pole}, {up} < -1, -{at_pole}, {across})"
    y = f"if(abs({up}) > 1, -cos(radians({ra})) / tan({dec}), {up})"
    pixels = (f"toUInt32(least(greatest(({z} / 2 + 0.5) * {_Q3C_SIDE}, 0), {_Q3C_SIDE - 1}))" for z in (x, y))
    index = f"toInt64({face} * {_Q3C_SIDE**2} + mortonEncode({', '.join(pixels)}))"
    return f"if({all_sql(f'isFinite({lon})', f'abs({lat}) <= 90')}, {index}, NULL)"


_ORDER = Parameter("hpxOrder", "order", "INTEGER")

PIXEL_FUNCTIONS = (
    Function(
        "ivo_healpix_index",
        (_ORDER, Parameter("long", "number", "REAL"), Parameter("lat", "number", "REAL")),
        LONG, _healpix_sql,
        "Index of the HEALPix pixel (NESTED) of order hpxOrder that contains the position (long, lat) in degrees.",
        returns="BIGINT",
    ),
    Function(
        "ivo_healpix_index",
        (_ORDER, Parameter("point", "point", "POINT")),
        LONG, _point_healpix_sql,
        "Index of the HEALPix pixel (NESTED) of order hpxOrder that contains the point.",
        returns="BIGINT",
    ),
    Function(
        "ivo_healpix_center",
        (_ORDER, Parameter("hpxIndex", "integer", "INTEGER")),
        POINT, "",
        "Centre of the HEALPix pixel (NESTED) hpxIndex of order hpxOrder; NULL if there is no such pixel.",
        returns="POINT", expand=_expand_center,
    ),
    Function(
        "gaia_healpix_index",
        (Parameter("norder", "gaia order", "INTEGER"), Parameter("source_id", "integer", "BIGINT")),
        LONG, _source_id_sql,
        "Index of the HEALPix pixel (NESTED) of order norder, at most 12, that a Gaia source_id encodes.",
        returns="BIGINT",
    ),
    Function(
        "gavo_ipix",
        (Parameter("long", "number", "REAL"), Parameter("lat", "number", "REAL")),
        LONG, _q3c_sql,
        "Index of the q3c pixel (2^30 on a side of each face) that contains the position (long, lat) in degrees.",
        returns="BIGINT",
    ),
)  # fmt: skip

#: The internal functions of the coordinates of centres
PIXEL_CENTER_SQL = {
    "PIXEL LON": lambda order, index: _Pixel(order).longitude_sql(index),
    "PIXEL LAT": lambda order, index: _Pixel(order).latitude_sql(index),
}
