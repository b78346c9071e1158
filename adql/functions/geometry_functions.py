"""User-defined functions of geometries. They have no SQL form, because the resolver binds them to operators."""

from __future__ import annotations

from collections.abc import Iterator

from adql.functions.function import Function, Parameter
from clickhouse_schema.datatypes import DOUBLE, INT, MOC, POLYGON

_TWO_MOCS = (Parameter("moc1", "geometry", "MOC"), Parameter("moc2", "geometry", "MOC"))


def _make_scisql_functions(name: str, parameters: str, result: str, description: str) -> Iterator[Function]:
    """Make a function of Qserv's scisql under both names, with and without the prefix."""
    for prefix in ("", "scisql_"):
        of_numbers = tuple(Parameter(parameter, "number", "DOUBLE") for parameter in parameters.split())
        kind = DOUBLE if result == "DOUBLE" else INT
        yield Function(f"{prefix}{name}", of_numbers, kind, "", description, returns=result)


#: The declared form of a polygon has three vertices
_VERTICES = " ".join(f"v{number}Lon v{number}Lat" for number in (1, 2, 3))

SCISQL_FUNCTIONS = (
    *_make_scisql_functions(
        "angSep", "lon1 lat1 lon2 lat2", "DOUBLE",
        "Separation of two positions; all in degrees. The same as DISTANCE.",
    ),
    *_make_scisql_functions(
        "s2PtInCircle", "lon lat centerLon centerLat radius", "INTEGER",
        "1 if the position is within radius of the centre, 0 otherwise; all in degrees.",
    ),
    *_make_scisql_functions(
        "s2PtInBox", "lon lat lonMin latMin lonMax latMax", "INTEGER",
        "1 if the position is between these longitudes and latitudes, which are constants, 0 otherwise; all in "
        "degrees. If lonMin exceeds lonMax, the box crosses longitude 0.",
    ),
    *_make_scisql_functions(
        "s2PtInEllipse", "lon lat centerLon centerLat semiMajorAxis semiMinorAxis positionAngle", "INTEGER",
        "1 if the position is in the ellipse, 0 otherwise. Semi-axes are in arcsec, up to 10 degrees; the position "
        "angle is east of north, in degrees.",
    ),
    *_make_scisql_functions(
        "s2PtInCPoly", f"lon lat {_VERTICES}", "INTEGER",
        "1 if the position is in the polygon of three or more vertices, 0 otherwise; all in degrees.",
    ),
)  # fmt: skip

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
    *SCISQL_FUNCTIONS,
)  # fmt: skip
