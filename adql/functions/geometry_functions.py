"""User defined functions of geometries. ``adql.resolve.geometry_binder`` binds them; they have no SQL form."""

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
        "The point, circle or polygon geo, whose coordinates are in the frame from_sys, in the frame to_sys. Frames "
        "are literals: ICRS, FK5 (J2000), FK4 (B1950, without E-terms), GALACTIC, ECLIPTIC (J2000).",
        returns="GEOMETRY",
    ),
    Function(
        "gavo_mocunion",
        _TWO_MOCS, MOC, "",
        "The union of two MOCs, in ASCII; NULL if one is NULL or empty.",
        returns="MOC",
    ),
    Function(
        "gavo_mocintersect",
        _TWO_MOCS, MOC, "",
        "The intersection of two MOCs, in ASCII: an empty text if they share no cell; NULL if one is NULL or empty.",
        returns="MOC",
    ),
)  # fmt: skip
