"""The operators: the names of a ``Call`` that is not a function, and the roles of their operands.

The names and parameters of functions are in ``adql.functions.FUNCTIONS``. ``role?`` is optional; roles with ``*`` are
repeated together any number of times. ``adql.ir.operand_views`` has views of structured operands; for other operands,
unpack ``args`` or use ``get_operand``.
"""

from __future__ import annotations

from adql.ir.expressions import Call, Expr

#: Operators that passes replace, so that the emitter does not have them
REPLACED_BY_PASSES = ("NEAREST", "MUTUAL", "CELL")

#: Name -> roles of the operands. Angles are in degrees, positions in ICRS.
OPERATORS: dict[str, str] = {
    # --- Conditions
    "=": "left right",
    "<>": "left right",
    "<": "left right",
    "<=": "left right",
    ">": "left right",
    ">=": "left right",
    "SAME": "left right",  # equality in which NULL equals NULL
    "AND": "part*",
    "OR": "part*",
    "NOT": "condition",
    "IS NULL": "operand",
    "IN": "operand item*",  # items are constants
    "LIKE": "operand pattern",
    "ILIKE": "operand pattern",
    "MATCH": "pattern text",  # a regular expression
    "HAS WORDS": "haystack needle",
    "HASHLIST HAS": "hashlist item",
    "HAS INDEXED WORDS": "column needle",  # a filter by a text index; needle has a word
    "SAMPLED": "percent seed key*",  # TABLESAMPLE: the hash of the row is in the lowest percent
    "IS POSITION": "lon lat",  # neither NULL nor NaN, latitude within 90 degrees
    "HELD": "condition",  # the engine evaluates it for each row, not during planning
    # --- Values
    "+": "left right",
    "-": "left right",
    "*": "left right",
    "/": "left right",
    "NEG": "operand",
    "&": "left right",
    "|": "left right",
    "^": "left right",
    "~": "operand",
    "||": "left right",
    "CASE": "condition* value* otherwise",
    "COALESCE": "value*",
    "CAST": "operand length?",
    "EXACT": "operand",  # in the type of the call; an error if that cannot hold it
    "EXACT OR NULL": "operand",
    "ELEMENT": "array index",  # from 1; of a shape, a DALI number
    "0 OR 1": "condition",
    "INDEXED TEXT": "column",  # as in a text index; '' for NULL
    "AT LEAST 0": "operand",
    "ONE": "operand",  # 1, but computed from a column, for joins without a key
    "CANONICAL": "operand",  # 0.0 for -0.0, the same NaN for all
    "NO NAN": "operand",  # NULL for NaN
    "ONLY ONE": "value count",  # the value of a scalar subquery; an error if count is above 1
    "IN_UNIT": "operand factor unit",
    "RANDOM": "draw",
    "NORMAL": "mean sigma first_draw second_draw",
    "EPOCH LON": "ra dec parallax pmra pmdec velocity ref_epoch out_epoch",
    "EPOCH LAT": "ra dec parallax pmra pmdec velocity ref_epoch out_epoch",
    "PIXEL LON": "order index",
    "PIXEL LAT": "order index",
    "VECTOR +": "left right",  # element by element; one side may be a number
    "VECTOR -": "left right",
    "VECTOR *": "left right",
    "VECTOR /": "left right",
    "VECTOR NEG": "operand",
    # --- Shapes; angles in degrees
    "POINT": "lon lat",
    "CIRCLE": "lon lat radius",
    "BOX": "lon lat width height",
    "POLYGON": "lon* lat*",
    "TURNED": "shape source target",  # between celestial frames
    "TURNED LON": "lon lat source target",
    "TURNED LAT": "lon lat source target",
    "SHAPE OF TEXT": "text",
    "TEXT OF SHAPE": "shape",
    "STORED": "column",  # the numbers that a table stores for a column of shapes
    "MOC UNION": "left right",
    "MOC INTERSECTION": "left right",
    "AREA": "shape",
    "CENTROID": "shape",
    "CAP LON": "shape",  # the centre of a circle that contains the shape
    "CAP LAT": "shape",
    "CAP RADIUS": "shape",
    "REACH INSIDE": "outer inner",  # maximum separation of the centres of two circles, by their radii
    "REACH TOUCHING": "left right",
    "SHAPES CONTAIN": "inner outer",
    "SHAPES MEET": "left right",
    # --- Separations and cross-matches
    "DISTANCE": "left_lon left_lat right_lon right_lat",
    "HAVERSINE": "left_lon left_lat right_lon right_lat",  # sin^2(t/2) of the separation t, exact up to 90 degrees
    "NEAR": "left_lon left_lat right_lon right_lat radius",
    "NEARER": "left_lon left_lat right_lon right_lat radius",  # below the radius
    "NEAREST": "left_lon left_lat right_lon right_lat radius count",
    "MUTUAL": "left_lon left_lat right_lon right_lat radius",
    "IN ELLIPSE": "lon lat centre_lon centre_lat semi_major semi_minor angle",  # axes in arcsec, angle east of north
    "X": "lon lat",  # of the unit vector
    "Y": "lon lat",
    "Z": "lon lat",
    "VECTORS APART": "left_x left_y left_z right_x right_y right_z",
    "VECTORS HAVERSINE": "left_x left_y left_z right_x right_y right_z",
    "VECTORS NEAR": "left_x left_y left_z right_x right_y right_z radius",
    "VECTORS NEARER": "left_x left_y left_z right_x right_y right_z radius",
    "CUBE": "lon lat side",
    "CUBES": "lon lat side reach",
    "CUBE OF LEVEL": "lon lat level",
    "CUBES OF LEVEL": "lon lat level radius?",
    "LEVEL": "radius",  # of the cubes that fit a radius
    "LEVELS": "levels*",  # an array of the values of subqueries; without any, of all levels
    "EACH LEVEL": "levels first?",  # one row for each level from ``first``
    "ZONE CELL": "x y z height",  # of counted matches; the height of zones in degrees is a literal
    "ZONE CELL X": "cell height",  # of the unit vector of its centre
    "ZONE CELL Y": "cell height",
    "ZONE CELL Z": "cell height",
    "ZONE CELLS NEAR": "cell height reach",  # one row for each cell whose centre may be within reach of the centre
    "HPX29": "lon lat",
    "CELL": "lon lat order",  # the cell of a position in a filter; becomes CELL OF or is removed
    "CELL OF": "index order",
    "CELLS AROUND": "index order",  # one row for each
    "AT BORDER": "index order radius",  # whether another cell may have something within the radius
    "STEPS OVER BORDER": "index order radius",  # one row for each cell with anything within the radius
    "CELL BEYOND": "index step order",
    "LATITUDES NEAR": "left right radius",  # true wherever positions are within the radius
    "FILES OF": "cell order borders borders_order",  # one row for each file of an attached table with rows in the cell
    "BASE CELLS": "",
    "ROW NUMBER": "",
    "ROW NUMBER OF SHARD": "",
    "STORED ROW": "index",  # the number of a row in its table, equal in each read of a query
    # --- Set functions in two steps
    "STATE": "aggregate number",
    "BARE STATE": "aggregate number",
    "STORED STATE": "column type",
}  # fmt: skip


def get_operand(call: Call, role: str) -> Expr:
    """Return an operand by its role.

    Parameters
    ----------
    call
        A call of one of ``OPERATORS``.
    role
        A word of its entry there. No repeated role may precede it.

    Raises
    ------
    KeyError, ValueError
        If ``call`` is no such operator, or the operator has no such role.
    """
    return call.args[OPERATORS[call.name].split().index(role)]
