"""The table of functions: the only door from a function's name to SQL, which also feeds /capabilities.

Geometry functions are bound in ``adql.resolve.geometry``; their names are listed here. The SQL forms give the declared
ClickHouse type and NULL for NULL.
"""

from __future__ import annotations

from adql.functions.function import KINDS, Function, Parameter
from adql.functions.geometry import GEOMETRICAL
from adql.functions.healpix import HEALPIX
from adql.functions.mathematical import MATHEMATICAL
from adql.functions.text import STRING
from clickhouse_schema.datatypes import DOUBLE, LONG

__all__ = [
    "ADQL_GEO",
    "AGGREGATES",
    "FEATURES",
    "FUNCTIONS",
    "KINDS",
    "MATHEMATICAL",
    "STRING",
    "USER_DEFINED",
    "Function",
    "Parameter",
]

#: User defined functions, as declared in /capabilities
USER_DEFINED = (*HEALPIX, *GEOMETRICAL)

#: Geometry functions that are translated, for features-adqlgeo
ADQL_GEO = (
    "AREA", "BOX", "CENTROID", "CIRCLE", "CONTAINS", "COORD1", "COORD2", "COORDSYS", "DISTANCE", "INTERSECTS", "POINT",
    "POLYGON", "REGION",
)  # fmt: skip

#: Set functions and whether they keep the argument's type
AGGREGATES = {"COUNT": LONG, "SUM": None, "AVG": DOUBLE, "MIN": None, "MAX": None}

#: Optional features of the language, by the last part of their TAPRegExt type
FEATURES = {
    "features-adql-string": ("LOWER", "UPPER", "ILIKE"),
    "features-adql-sets": ("UNION", "EXCEPT", "INTERSECT"),
    "features-adql-common-table": ("WITH",),
    "features-adql-type": ("CAST",),
    "features-adql-conditional": ("COALESCE",),
    "features-adql-offset": ("OFFSET",),
}

FUNCTIONS: dict[str, tuple[Function, ...]] = {}
for _function in (*MATHEMATICAL, *STRING, *USER_DEFINED):
    FUNCTIONS[_function.name.upper()] = (*FUNCTIONS.get(_function.name.upper(), ()), _function)
