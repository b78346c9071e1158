"""The table of functions: the only door from a function's name to SQL, which also feeds /capabilities.

Geometry functions are bound in ``adql.resolve.geometry_binder``; their names are listed here. The SQL forms give the
declared ClickHouse type and NULL for NULL.
"""

from __future__ import annotations

from collections.abc import Callable

from adql.functions.astrometry_functions import ASTROMETRY, COORDINATES
from adql.functions.comparison_functions import CHOICES
from adql.functions.date_functions import DATES
from adql.functions.function import KINDS, Function, Parameter, SetFunction
from adql.functions.geometry_functions import GEOMETRICAL
from adql.functions.match_functions import MATCHING
from adql.functions.mathematical_functions import DRAWS, MATHEMATICAL, RANDOM
from adql.functions.object_name_functions import NAMES
from adql.functions.photometry_functions import PHOTOMETRY
from adql.functions.pixel_functions import CENTERS, HEALPIX
from adql.functions.set_functions import ADQL_SET_FUNCTIONS, STATISTICS
from adql.functions.sexagesimal_functions import SEXAGESIMAL
from adql.functions.text_functions import CONDITIONS, STRING, TEXTS

__all__ = [
    "ADQL_GEO",
    "AGGREGATES",
    "FEATURES",
    "FUNCTIONS",
    "KINDS",
    "MATHEMATICAL",
    "PARTS",
    "STATISTICS",
    "STRING",
    "USER_DEFINED",
    "Function",
    "Parameter",
    "SetFunction",
]

#: User defined functions, as declared in /capabilities
USER_DEFINED: tuple[Function, ...] = (
    *HEALPIX, *ASTROMETRY, *GEOMETRICAL, *DATES, *TEXTS, *SEXAGESIMAL, *CHOICES, *PHOTOMETRY, *RANDOM, *STATISTICS,
    *MATCHING, *NAMES,
)  # fmt: skip

#: Geometry functions that are translated, for features-adqlgeo
ADQL_GEO = (
    "AREA", "BOX", "CENTROID", "CIRCLE", "CONTAINS", "COORD1", "COORD2", "COORDSYS", "DISTANCE", "INTERSECTS", "POINT",
    "POLYGON", "REGION",
)  # fmt: skip

#: Set functions, which also take OVER
AGGREGATES: dict[str, SetFunction] = {f.name.upper(): f for f in (*ADQL_SET_FUNCTIONS, *STATISTICS)}

#: Optional features of the language, by the last part of their TAPRegExt type
FEATURES = {
    "features-adql-string": ("LOWER", "UPPER", "ILIKE"),
    "features-adql-sets": ("UNION", "EXCEPT", "INTERSECT"),
    "features-adql-common-table": ("WITH",),
    "features-adql-type": ("CAST",),
    "features-adql-conditional": ("COALESCE",),
    "features-adql-unit": ("IN_UNIT",),
    "features-adql-offset": ("OFFSET",),
}

FUNCTIONS: dict[str, tuple[Function, ...]] = {}
for _function in (*MATHEMATICAL, *STRING, *USER_DEFINED):
    if isinstance(_function, SetFunction):
        continue
    FUNCTIONS[_function.name.upper()] = (*FUNCTIONS.get(_function.name.upper(), ()), _function)

#: The third argument is the unit itself
UNITS = {"IN_UNIT": "({0} * {1})"}

#: SQL forms of what functions with ``expand`` are made of; no user can write these names
PARTS: dict[str, str | Callable[..., str]] = {**CENTERS, **COORDINATES, **CONDITIONS, **DRAWS, **UNITS}
