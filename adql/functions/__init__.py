"""The table of functions: the only way from a function's name to SQL, and the source of /capabilities.

Geometry functions have only names here, because the resolver binds them to operators. All other SQL forms return the
declared ClickHouse type, and NULL for a NULL argument unless the description says otherwise.
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

#: User-defined functions, as /capabilities declares them
USER_DEFINED: tuple[Function, ...] = (
    *PIXEL_FUNCTIONS, *ASTROMETRY_FUNCTIONS, *GEOMETRY_FUNCTIONS, *DATE_FUNCTIONS, *TEXT_FUNCTIONS,
    *SEXAGESIMAL_FUNCTIONS, *COMPARISON_FUNCTIONS, *PHOTOMETRY_FUNCTIONS, *RANDOM_FUNCTIONS, *STATISTICAL_FUNCTIONS,
    *MATCH_FUNCTIONS, *OBJECT_NAME_FUNCTIONS,
)  # fmt: skip

#: The supported geometry functions of ADQL, for features-adqlgeo
GEOMETRY_NAMES = (
    "AREA", "BOX", "CENTROID", "CIRCLE", "CONTAINS", "COORD1", "COORD2", "COORDSYS", "DISTANCE", "INTERSECTS", "POINT",
    "POLYGON", "REGION",
)  # fmt: skip

#: Set functions, which also accept OVER, by name in upper case
SET_FUNCTIONS_BY_NAME: dict[str, SetFunction] = {
    f.name.upper(): f for f in (*ADQL_SET_FUNCTIONS, *STATISTICAL_FUNCTIONS)
}

#: Last part of the TAPRegExt type of an optional feature of ADQL -> its forms
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

#: The third argument is the target unit, which the SQL does not need
_UNIT_SQL = {"IN_UNIT": "({0} * {1})"}

#: SQL forms of the internal functions to which functions with ``expand`` expand; their names are not ADQL
INTERNAL_SQL: dict[str, str | Callable[..., str]] = {
    **PIXEL_CENTER_SQL, **EPOCH_SQL, **TEXT_CONDITION_SQL, **RANDOM_SQL, **_UNIT_SQL
}  # fmt: skip
