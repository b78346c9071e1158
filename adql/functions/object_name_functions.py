"""Positions of objects by their names, which somebody outside of this package is asked for."""

from __future__ import annotations

from collections.abc import Callable

from adql.functions.function import Function, Parameter
from clickhouse_schema.datatypes import POINT


class NameLookupError(Exception):
    """There is no position to be had for a name; the message, for the user, says why."""


#: Longitude and latitude in degrees, ICRS, of a name; NameFault if there are none
PositionLookup = Callable[[str], tuple[float, float]]

#: in one query, and characters of each
MAX_NAMES = 5
MAX_NAME_CHARACTERS = 100

OBJECT_NAME_FUNCTIONS = (
    Function("ivo_simbadpoint", (Parameter("identifier", "literal", "TEXT"),), POINT, "",
             "The position of the object that Simbad, NED or VizieR know by this name.", returns="POINT"),
)  # fmt: skip
