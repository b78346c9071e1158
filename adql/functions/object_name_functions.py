"""Positions of named objects, which the caller of ``translate`` looks up."""

from __future__ import annotations

from collections.abc import Callable

from adql.functions.function import Function, Parameter
from clickhouse_schema.datatypes import POINT


class NameLookupError(Exception):
    """The position of a name is unknown or cannot be looked up; the message for the user explains why."""


#: Returns the ICRS longitude and latitude of a name in degrees, or raises NameLookupError
PositionLookup = Callable[[str], tuple[float, float]]

#: Limits for the names in a query, and for the characters of each
MAX_NAMES = 5
MAX_NAME_CHARACTERS = 100

OBJECT_NAME_FUNCTIONS = (
    Function("ivo_simbadpoint", (Parameter("identifier", "literal", "TEXT"),), POINT, "",
             "ICRS position of the object that Simbad, NED or VizieR know by this name.", returns="POINT"),
)  # fmt: skip
