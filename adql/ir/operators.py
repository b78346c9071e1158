"""The operators: each name that a ``Call`` may carry besides functions, and the role of each operand.

The names and parameters of functions are in ``adql.functions.FUNCTIONS``. ``role?`` may be missing; roles with ``*``
are repeated together any number of times. ``adql.ir.operand_views`` has views of structured operands; unpack ``args``
or use ``get_operand`` for the others.
"""

from __future__ import annotations

from adql.ir.expressions import Call, Expr

#: Operators that passes replace: the emitter does not know them
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
    "SAME": "left right",  # equal, NULL to NULL too
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
    "HAS INDEXED WORDS": "column needle",  # in a filter, by a text index; needle has a word
    "SAMPLED": "percent seed key*",  # TABLESAMPLE: the row's hash is in the lowest part
    "IS POSITION": "lon lat",  # neither NULL nor NaN, latitude within 90 degrees
    "HELD": "condition",  # the engine evaluates it for each row, not while it plans
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
    "EXACT": "operand",  # in the call's type, an error if that does not hold it
    "EXACT OR NULL": "operand",
    "ELEMENT": "array index",  # from 1; of a shape, one of its DALI numbers
    "0 OR 1": "condition",
    "INDEXED TEXT": "column",  # as a text index has it, '' for NULL
    "AT LEAST 0": "operand",
    "ONE": "operand",  # 1, from a column: joins on it need a key of each side
    "CANONICAL": "operand",  # 0.0 for -0.0, one NaN for all
    "NO NAN": "operand",  # NULL for NaN
    "ONLY ONE": "value count",  # an error if count is above 1: a scalar subquery
    "IN_UNIT": "operand factor unit",
    "RANDOM": "draw",
    "NORMAL": "mean sigma first_draw second_draw",
    "EPOCH LON": "ra dec parallax pmra pmdec velocity ref_epoch out_epoch",
    "EPOCH LAT": "ra dec parallax pmra pmdec velocity ref_epoch out_epoch",
    "PIXEL LON": "order index",
    "PIXEL LAT": "order index",
    "VECTOR +": "left right",  # element by element: an array and an array or a number
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
    "STORED": "column",  # the numbers that a table stores beside a column of shapes
    "MOC UNION": "left right",
    "MOC INTERSECTION": "left right",
    "AREA": "shape",
    "CENTROID": "shape",
    "CAP LON": "shape",  # the centre of a circle that contains the shape
    "CAP LAT": "shape",
    "CAP RADIUS": "shape",
    "REACH INSIDE": "outer inner",  # greatest separation of two circles' centres, by their radii
    "REACH TOUCHING": "left right",
    "SHAPES CONTAIN": "inner outer",
    "SHAPES MEET": "left right",
    # --- Separations and cross-matches
    "DISTANCE": "left_lon left_lat right_lon right_lat",
    "HAVERSINE": "left_lon left_lat right_lon right_lat",  # of the separation: sin^2(t/2), exact up to 90 degrees
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
    "LEVELS": "levels*",  # an array of the values of subqueries; of all levels without any
    "EACH LEVEL": "levels first?",  # one row for each level, from the first on
    "ZONE CELL": "x y z height",  # of counted matches; the height of zones in degrees is a literal
    "ZONE CELL X": "cell height",  # of the unit vector of its centre
    "ZONE CELL Y": "cell height",
    "ZONE CELL Z": "cell height",
    "ZONE CELLS NEAR": "cell height reach",  # one row for each whose centre may be within reach of this one's centre
    "HPX29": "lon lat",
    "CELL": "lon lat order",  # a position's cell, in a filter: becomes CELL OF or goes
    "CELL OF": "index order",
    "CELLS AROUND": "index order",  # one row for each
    "AT BORDER": "index order radius",  # of its cell: something within the radius may be in another one
    "STEPS OVER BORDER": "index order radius",  # one row for each, by number, to a cell with anything within the radius
    "CELL BEYOND": "index step order",
    "LATITUDES NEAR": "left right radius",  # as they are wherever positions are within the radius
    "FILES OF": "cell order borders borders_order",  # one row for each file of an attached table with rows in the cell
    "BASE CELLS": "",
    "ROW NUMBER": "",
    "ROW NUMBER OF SHARD": "",
    "STORED ROW": "index",  # a row's number in the table of this column, the same each time a query reads it
    # --- Set functions in two steps
    "STATE": "aggregate number",
    "BARE STATE": "aggregate number",
    "STORED STATE": "column type",
}  # fmt: skip


def get_operand(call: Call, role: str) -> Expr:
    """Return the operand of that role, which no repeated one precedes."""
    return call.args[OPERATORS[call.name].split().index(role)]
