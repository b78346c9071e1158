"""The table of functions: the only door from a function's name to SQL, which also feeds /capabilities.

Geometry functions are bound in ``adql.resolve.geometry_binder``; their names are listed here. The SQL forms give the
declared ClickHouse type and NULL for NULL.
"""

from __future__ import annotations

from collections.abc import Callable

from adql.functions.astrometry_functions import ASTROMETRY_FUNCTIONS, EPOCH_SQL
from adql.functions.comparison_functions import COMPARISON_FUNCTIONS
from adql.functions.date_functions import DATE_FUNCTIONS
from adql.functions.function import PARAMETER_KINDS, Function, Parameter, SetFunction
from adql.functions.geometry_functions import GEOMETRY_FUNCTIONS
from adql.functions.match_functions import MATCH_FUNCTIONS
from adql.functions.mathematical_functions import MATHEMATICAL_FUNCTIONS, RANDOM_FUNCTIONS, RANDOM_SQL
from adql.functions.object_name_functions import OBJECT_NAME_FUNCTIONS
from adql.functions.photometry_functions import PHOTOMETRY_FUNCTIONS
from adql.functions.pixel_functions import PIXEL_CENTER_SQL, PIXEL_FUNCTIONS
from adql.functions.set_functions import ADQL_SET_FUNCTIONS, STATISTICAL_FUNCTIONS
from adql.functions.sexagesimal_functions import SEXAGESIMAL_FUNCTIONS
from adql.functions.text_functions import STRING_FUNCTIONS, TEXT_CONDITION_SQL, TEXT_FUNCTIONS

__all__ = [
    "FUNCTIONS",
    "GEOMETRY_NAMES",
    "INTERNAL_SQL",
    "LANGUAGE_FEATURES",
    "MATHEMATICAL_FUNCTIONS",
    "PARAMETER_KINDS",
    "SET_FUNCTIONS_BY_NAME",
    "STATISTICAL_FUNCTIONS",
    "STRING_FUNCTIONS",
    "USER_DEFINED",
    "Function",
    "Parameter",
    "SetFunction",
]

#: User defined functions, as declared in /capabilities
USER_DEFINED: tuple[Function, ...] = (
    *PIXEL_FUNCTIONS,
    *ASTROMETRY_FUNCTIONS,
    *GEOMETRY_FUNCTIONS,
    *DATE_FUNCTIONS,
    *TEXT_FUNCTIONS,
    *SEXAGESIMAL_FUNCTIONS,
    *COMPARISON_FUNCTIONS,
    *PHOTOMETRY_FUNCTIONS,
    *RANDOM_FUNCTIONS,
    *STATISTICAL_FUNCTIONS,
    *MATCH_FUNCTIONS,
    *OBJECT_NAME_FUNCTIONS,
)

#: Geometry functions that are translated, for features-adqlgeo
GEOMETRY_NAMES = (
    "AREA", "BOX", "CENTROID", "CIRCLE", "CONTAINS", "COORD1", "COORD2", "COORDSYS", "DISTANCE", "INTERSECTS", "POINT",
    "POLYGON", "REGION",
)  # fmt: skip

#: Set functions, which also take OVER
SET_FUNCTIONS_BY_NAME: dict[str, SetFunction] = {
    f.name.upper(): f for f in (*ADQL_SET_FUNCTIONS, *STATISTICAL_FUNCTIONS)
}

#: Optional features of the language, by the last part of their TAPRegExt type
LANGUAGE_FEATURES = {
    "features-adql-string": ("LOWER", "UPPER", "ILIKE"),
    "features-adql-sets": ("UNION", "EXCEPT", "INTERSECT"),
    "features-adql-common-table": ("WITH",),
    "features-adql-type": ("CAST",),
    "features-adql-conditional": ("COALESCE",),
    "features-adql-unit": ("IN_UNIT",),
    "features-adql-offset": ("OFFSET",),
}

FUNCTIONS: dict[str, tuple[Function, ...]] = {}
for _function in (*MATHEMATICAL_FUNCTIONS, *STRING_FUNCTIONS, *USER_DEFINED):
    if isinstance(_function, SetFunction):
        continue
    FUNCTIONS[_function.name.upper()] = (*FUNCTIONS.get(_function.name.upper(), ()), _function)

#: The third argument is the unit itself
_UNIT_SQL = {"IN_UNIT": "({0} * {1})"}

#: SQL forms of what functions with ``expand`` are made of; no user can write these names
INTERNAL_SQL: dict[str, str | Callable[..., str]] = {
    **PIXEL_CENTER_SQL,
    **EPOCH_SQL,
    **TEXT_CONDITION_SQL,
    **RANDOM_SQL,
    **_UNIT_SQL,
}
