"""The emitter's part for cross-matches: cubes, their levels, and tests of unit vectors.

The cubes of level n have the side 4^(n - 8): 3 arcsec at level 0, beyond the unit sphere at level 10.
"""

from __future__ import annotations

from collections.abc import Callable

from adql.clickhouse.sky.geometry_sql import Emit
from adql.clickhouse.sky.separation_sql import (
    LEVELS,
    Vector,
    cube,
    cubes,
    is_position,
    known_vector,
    level_of,
    nearness,
    reach,
    separation,
    side_of,
)
from adql.ir import Call, Subquery, evaluate_constant


def _vector(expr: Call, emit: Emit) -> Vector:
    lon, lat = expr.args[:2]
    return known_vector(emit(lon), emit(lat), evaluate_constant(lon), evaluate_constant(lat))


def _axis(expr: Call, emit: Emit) -> str:
    return _vector(expr, emit)["XYZ".index(expr.name)]


def _near(expr: Call, emit: Emit) -> str:
    *vectors, radius = (emit(a) for a in expr.args)
    strict = expr.name.endswith("NEARER")
    return nearness(tuple(vectors[:3]), tuple(vectors[3:]), radius, evaluate_constant(expr.args[6]), strict=strict)


def _apart(expr: Call, emit: Emit) -> str:
    vectors = [emit(a) for a in expr.args]
    return f"degrees({separation(tuple(vectors[:3]), tuple(vectors[3:]))})"


def _cube(expr: Call, emit: Emit) -> str:
    return cube(_vector(expr, emit), emit(expr.args[2]))


def _cubes(expr: Call, emit: Emit) -> str:
    return cubes(_vector(expr, emit), emit(expr.args[2]), emit(expr.args[3]))


def _cube_of_level(expr: Call, emit: Emit) -> str:
    level = emit(expr.args[2])
    return cube(_vector(expr, emit), side_of(level), level)


def _cubes_of_level(expr: Call, emit: Emit) -> str:
    """Without a radius for the greatest ball that the level has."""
    level = emit(expr.args[2])
    side = side_of(level)
    return cubes(_vector(expr, emit), side, reach(emit(expr.args[3])) if len(expr.args) > 3 else f"({side} / 2)", level)


def _levels(expr: Call, emit: Emit) -> str:
    """An array of what the subqueries give; without any, of all levels."""
    if not expr.args:
        return f"range({LEVELS})"
    arrays = []
    for arg in expr.args:
        assert isinstance(arg, Subquery)  # noqa: S101  the pass makes nothing else
        alias = arg.query.outputs[0].alias
        arrays.append(f"assumeNotNull((SELECT groupUniqArray({alias}) FROM {emit(arg)}))")
    return arrays[0] if len(arrays) == 1 else f"arrayDistinct(arrayConcat({', '.join(arrays)}))"


def _each_level(expr: Call, emit: Emit) -> str:
    """One row for each level, from the second argument on."""
    levels = emit(expr.args[0])
    if len(expr.args) == 1:
        return f"arrayJoin({levels})"
    return f"arrayJoin(arrayFilter(level -> level >= {emit(expr.args[1])}, {levels}))"


MATCHING: dict[str, Callable[[Call, Emit], str]] = {
    "X": _axis,
    "Y": _axis,
    "Z": _axis,
    "VECTORS NEAR": _near,
    "VECTORS NEARER": _near,
    "VECTORS APART": _apart,
    "IS POSITION": lambda e, emit: is_position(*(emit(a) for a in e.args)),
    "CUBE": _cube,
    "CUBES": _cubes,
    "CUBE OF LEVEL": _cube_of_level,
    "CUBES OF LEVEL": _cubes_of_level,
    "LEVEL": lambda e, emit: level_of(emit(e.args[0])),
    "LEVELS": _levels,
    "EACH LEVEL": _each_level,
    "AT LEAST 0": lambda e, emit: f"if({emit(e.args[0])} < 0, 0, {emit(e.args[0])})",
    "ROW NUMBER": lambda e, emit: "rowNumberInAllBlocks()",  # noqa: ARG005  called like the others
    "ROW NUMBER OF SHARD": lambda e, emit: "(rowNumberInAllBlocks() * 65536 + shardNum())",  # noqa: ARG005
}
