"""Functions of object names, whose positions the caller of ``translate`` looks up."""

from __future__ import annotations

from collections.abc import Callable

from adql.functions.function import Function, Parameter
from clickhouse_schema.datatypes import POINT


class NameLookupError(Exception):
    """The position of an object is unknown or cannot be looked up. The message tells the user the reason."""


#: Returns the ICRS longitude and latitude of a named object in degrees, or raises NameLookupError
PositionLookup = Callable[[str], tuple[float, float]]

#: Maximum number of names in a query, and of characters in a name
MAX_NAMES = 5
MAX_NAME_CHARACTERS = 100

_DESCRIPTION = (
    "ICRS position of the object with this name, from tables that declare names, or else from Simbad, NED or VizieR if "
    "the service may query them. It is an error if the name is unknown or belongs to several objects."
)

OBJECT_NAME_FUNCTIONS = (
    Function("ivo_simbadpoint", (Parameter("identifier", "literal", "TEXT"),), POINT, "",
             _DESCRIPTION, returns="POINT"),
    Function("skyhouse_resolve", (Parameter("name", "literal", "TEXT"),), POINT, "", _DESCRIPTION, returns="POINT"),
)  # fmt: skip
