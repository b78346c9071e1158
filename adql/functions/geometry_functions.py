"""User defined functions of geometries. They have no SQL form: the resolver binds them to operators."""

from __future__ import annotations

from adql.functions.function import Function, Parameter
from clickhouse_schema.datatypes import MOC, POLYGON

_TWO_MOCS = (Parameter("moc1", "geometry", "MOC"), Parameter("moc2", "geometry", "MOC"))

GEOMETRY_FUNCTIONS = (
    Function(
        "ivo_geom_transform",
        (
            Parameter("from_sys", "literal", "TEXT"),
            Parameter("to_sys", "literal", "TEXT"),
            Parameter("geo", "geometry", "GEOMETRY"),
        ),
        POLYGON, "",
        "The point, circle or polygon geo, transformed from the frame from_sys to the frame to_sys. Frames are "
        "literals: ICRS, FK5 (J2000), FK4 (B1950, without E-terms), GALACTIC, ECLIPTIC (J2000).",
        returns="GEOMETRY",
    ),
    Function(
        "gavo_mocunion",
        _TWO_MOCS, MOC, "",
        "Union of two MOCs, in ASCII; NULL if either is NULL or empty.",
        returns="MOC",
    ),
    Function(
        "gavo_mocintersect",
        _TWO_MOCS, MOC, "",
        "Intersection of two MOCs, in ASCII, an empty text if they share no cell; NULL if either is NULL or empty.",
        returns="MOC",
    ),
)  # fmt: skip
