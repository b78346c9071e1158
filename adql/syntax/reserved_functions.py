"""The reserved functions of ADQL 2.1 and the number of their arguments.

Source: the grammar of ADQL 2.1 (REC 2023-12-15). The words of Skyhouse's extensions that ADQL does not reserve (OVER,
PARTITION, RANGE, UNBOUNDED, PRECEDING, FOLLOWING, ROW, TABLESAMPLE, BERNOULLI, REPEATABLE) can be names wherever the
grammar does not expect these words.
"""

from __future__ import annotations

SET_FUNCTIONS = frozenset({"AVG", "COUNT", "MAX", "MIN", "SUM"})

GEOMETRIES = frozenset({"POINT", "CIRCLE", "BOX", "POLYGON"})
"""Constructors with an optional coordinate system; ``adql.syntax.operand_grammar`` lists their forms."""

MANY = 1_000_000

ARGUMENTS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("ABS", "CEILING", "DEGREES", "EXP", "FLOOR", "LOG", "LOG10", "RADIANS", "SQRT"), (1, 1)),
    **dict.fromkeys(("ACOS", "ASIN", "ATAN", "COS", "COT", "SIN", "TAN"), (1, 1)),
    **dict.fromkeys(("ATAN2", "MOD", "POWER"), (2, 2)),
    **dict.fromkeys(("ROUND", "TRUNCATE"), (1, 2)),
    "PI": (0, 0),
    "RAND": (0, 1),
    **dict.fromkeys(("LOWER", "UPPER"), (1, 1)),
    "COALESCE": (1, MANY),
    "IN_UNIT": (2, 2),
    **dict.fromkeys(SET_FUNCTIONS, (1, 1)),
    **dict.fromkeys(("AREA", "CENTROID", "COORD1", "COORD2", "COORDSYS", "REGION"), (1, 1)),
    **dict.fromkeys(("CONTAINS", "INTERSECTS"), (2, 2)),
    "DISTANCE": (2, 4),
    **dict.fromkeys(GEOMETRIES, (2, MANY)),
}
"""Reserved function -> minimum and maximum number of its arguments."""
