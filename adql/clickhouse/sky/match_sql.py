"""The emitter's forms for joins on the sky: cubes, levels, zone cells, and HEALPix cells."""

from __future__ import annotations

import zlib

from adql.clickhouse.sky.cube_sql import (
    CUBE_LEVELS,
    cube_level_sql,
    cube_number_sql,
    cube_reach_sql,
    cube_side_sql,
    touched_cubes_sql,
)
from adql.clickhouse.sky.neighbour_cell_sql import (
    cell_beyond_sql,
    cell_sql,
    cells_around_sql,
    is_at_border_sql,
    steps_over_border_sql,
)
from adql.clickhouse.sky.unit_vector_sql import (
    Vector,
    is_near_sql,
    is_position_sql,
    position_vector_or_nan_sql,
    separation_sql,
    squared_sql,
)
from adql.clickhouse.sky.zone_cell_sql import zone_cell_centre_sql, zone_cell_sql, zone_cells_near_sql
from adql.clickhouse.sql_text import Emit, Form
from adql.ir import Call, Column, Expr, Literal, Position, Subquery, VectorNearness, evaluate_constant, get_operand
from clickhouse_schema.hats.attachment import FILE_SUFFIX
from clickhouse_schema.healpix import index_sql

# --- unit vectors -----------------------------------------------------------------------------------------------------


def _position_vector(expr: Call, emit: Emit) -> Vector:
    lon, lat = Position.from_call(expr)
    return position_vector_or_nan_sql(emit(lon), emit(lat), evaluate_constant(lon), evaluate_constant(lat))


def _axis_sql(expr: Call, emit: Emit) -> str:
    return _position_vector(expr, emit)["XYZ".index(expr.name)]


def _vectors_near_sql(expr: Call, emit: Emit) -> str:
    left, right, radius, is_strict = VectorNearness.from_call(expr)
    first, second = _emit_vector(left, emit), _emit_vector(right, emit)
    return is_near_sql(first, second, emit(radius), evaluate_constant(radius), strict=is_strict)


def _separation_degrees_sql(expr: Call, emit: Emit) -> str:
    left, right = expr.args[:3], expr.args[3:]
    return f"degrees({separation_sql(_emit_vector(left, emit), _emit_vector(right, emit))})"


def _vectors_haversine_sql(expr: Call, emit: Emit) -> str:
    left, right = (_emit_vector(vector, emit) for vector in (expr.args[:3], expr.args[3:]))
    return f"(({squared_sql(left, right, '-')}) / 4)"


def _emit_vector(components: tuple[Expr, ...], emit: Emit) -> Vector:
    x, y, z = (emit(component) for component in components)
    return x, y, z


# --- cubes and levels -------------------------------------------------------------------------------------------------


def _cube_sql(expr: Call, emit: Emit) -> str:
    return cube_number_sql(_position_vector(expr, emit), emit(get_operand(expr, "side")))


def _cubes_sql(expr: Call, emit: Emit) -> str:
    return touched_cubes_sql(
        _position_vector(expr, emit), emit(get_operand(expr, "side")), emit(get_operand(expr, "reach"))
    )


def _cube_of_level_sql(expr: Call, emit: Emit) -> str:
    level, named = _name_level(emit(get_operand(expr, "level")))
    return cube_number_sql(_position_vector(expr, emit), cube_side_sql(level), named)


def _cubes_of_level_sql(expr: Call, emit: Emit) -> str:
    """Return the cubes that a ball touches; without a radius, the greatest ball of the level."""
    _lon, _lat, level_operand, *radius = expr.args
    level, named = _name_level(emit(level_operand))
    side = cube_side_sql(level)
    reach = cube_reach_sql(emit(radius[0])) if radius else f"({side} / 2)"
    return touched_cubes_sql(_position_vector(expr, emit), side, reach, named)


def _name_level(level: str) -> tuple[str, str]:
    """Return a name for the SQL of a level, and the SQL with the name.

    The SQL of a cube uses the level up to a dozen times. Without the name, a FULL JOIN by shapes, with the subqueries
    that list the levels, had 400 kB of SQL, and the engine needed 300 MB to analyse it.
    """
    name = f"__level_{zlib.crc32(level.encode()):08x}"
    return name, f"({level} AS {name})"


def _levels_sql(expr: Call, emit: Emit) -> str:
    """Return an array of the levels that the subqueries select; without subqueries, of all levels."""
    if not expr.args:
        return f"range({CUBE_LEVELS})"
    arrays = []
    for arg in expr.args:
        assert isinstance(arg, Subquery)  # noqa: S101  the pass makes nothing else
        alias = arg.query.outputs[0].alias
        arrays.append(f"assumeNotNull((SELECT groupUniqArray({alias}) FROM {emit(arg)}))")
    return arrays[0] if len(arrays) == 1 else f"arrayDistinct(arrayConcat({', '.join(arrays)}))"


def _each_level_sql(expr: Call, emit: Emit) -> str:
    """Return a row for each level; with the operand ``first``, from that level."""
    levels, *first = (emit(arg) for arg in expr.args)
    return f"arrayJoin(arrayFilter(level -> level >= {first[0]}, {levels}))" if first else f"arrayJoin({levels})"


# --- zone cells -------------------------------------------------------------------------------------------------------


def _zone_cell_sql(expr: Call, emit: Emit) -> str:
    *vector, height = expr.args
    return zone_cell_sql(_emit_vector(tuple(vector), emit), _read_degrees(height))


def _zone_cell_axis_sql(expr: Call, emit: Emit) -> str:
    cell, height = expr.args
    return zone_cell_centre_sql(emit(cell), _read_degrees(height))["XYZ".index(expr.name[-1])]


def _zone_cells_near_sql(expr: Call, emit: Emit) -> str:
    cell, height, reach = expr.args
    return zone_cells_near_sql(emit(cell), _read_degrees(height), _read_degrees(reach))


def _read_degrees(expr: Expr) -> float:
    value = evaluate_constant(expr)
    assert value is not None  # noqa: S101  the pass writes literals
    return value


# --- HEALPix cells ----------------------------------------------------------------------------------------------------


def _index_sql(expr: Call, emit: Emit) -> str:
    lon, lat = (emit(arg) for arg in expr.args)
    return index_sql(lon, lat)


def _cell_of_sql(expr: Call, emit: Emit) -> str:
    index, order = expr.args
    return cell_sql(emit(index), _read_order(order))


def _cells_around_sql(expr: Call, emit: Emit) -> str:
    index, order = expr.args
    return f"arrayJoin({cells_around_sql(emit(index), _read_order(order))})"


def _is_at_border_sql(expr: Call, emit: Emit) -> str:
    index, order, radius = expr.args
    return is_at_border_sql(emit(index), _read_order(order), _read_degrees(radius))


def _steps_over_border_sql(expr: Call, emit: Emit) -> str:
    index, order, radius = expr.args
    return steps_over_border_sql(emit(index), _read_order(order), _read_degrees(radius))


def _cell_beyond_sql(expr: Call, emit: Emit) -> str:
    index, step, order = expr.args
    return cell_beyond_sql(emit(index), emit(step), _read_order(order))


def _latitudes_near_sql(expr: Call, emit: Emit) -> str:
    left, right, radius = expr.args
    return f"(abs({emit(left)} - {emit(right)}) <= {_read_degrees(radius) * (1 + 1e-9) + 1e-12!r})"


def _files_of_sql(expr: Call, emit: Emit) -> str:
    """Return a row for each file with rows in a cell.

    ``borders``: the first cells of all files, and the cells after their last cells, both ascending, of the order
    ``borders_order``.
    """
    cell, order, borders, borders_order = expr.args
    steps = 2 * (_read_order(borders_order) - _read_order(order))
    first, end = (f"toInt64({emit(cell)}) + {number}" for number in (0, 1))
    if steps >= 0:
        first, end = f"({first}) * {2**steps}", f"({end}) * {2**steps}"
    else:
        first, end = f"intDiv({first}, {2**-steps})", f"intDiv({first}, {2**-steps}) + 1"
    firsts, ends = (f"CAST({emit(borders)}, 'Array(Array(Int64))')[{number}]" for number in (1, 2))
    numbers = f"arrayCount(b -> b <= {first}, {ends}), arrayCount(b -> b < {end}, {firsts})"
    return f"concat(toString(arrayJoin(range({numbers}))), '{FILE_SUFFIX}')"


def _stored_row_sql(expr: Call, emit: Emit) -> str:  # noqa: ARG001  called like the others
    (index,) = expr.args
    assert isinstance(index, Column)  # noqa: S101  the pass makes nothing else
    return f"(t{index.relation}._part_starting_offset + t{index.relation}._part_offset)"


def _read_order(expr: Expr) -> int:
    assert isinstance(expr, Literal)  # noqa: S101  the pass that makes these calls writes literals
    assert isinstance(expr.value, int)  # noqa: S101
    return expr.value


#: Operator -> its form
MATCH_FORMS: dict[str, Form] = {
    "X": _axis_sql,
    "Y": _axis_sql,
    "Z": _axis_sql,
    "VECTORS NEAR": _vectors_near_sql,
    "VECTORS NEARER": _vectors_near_sql,
    "VECTORS APART": _separation_degrees_sql,
    "VECTORS HAVERSINE": _vectors_haversine_sql,
    "IS POSITION": lambda e, emit: is_position_sql(*(emit(a) for a in e.args)),
    "CUBE": _cube_sql,
    "CUBES": _cubes_sql,
    "CUBE OF LEVEL": _cube_of_level_sql,
    "CUBES OF LEVEL": _cubes_of_level_sql,
    "LEVEL": lambda e, emit: cube_level_sql(emit(e.args[0])),
    "LEVELS": _levels_sql,
    "EACH LEVEL": _each_level_sql,
    "AT LEAST 0": lambda e, emit: f"if({emit(e.args[0])} < 0, 0, {emit(e.args[0])})",
    "ROW NUMBER": lambda e, emit: "rowNumberInAllBlocks()",  # noqa: ARG005  called like the others
    "ROW NUMBER OF SHARD": lambda e, emit: "(rowNumberInAllBlocks() * 65536 + shardNum())",  # noqa: ARG005
    "STORED ROW": _stored_row_sql,
    "ZONE CELL": _zone_cell_sql,
    "ZONE CELL X": _zone_cell_axis_sql,
    "ZONE CELL Y": _zone_cell_axis_sql,
    "ZONE CELL Z": _zone_cell_axis_sql,
    "ZONE CELLS NEAR": _zone_cells_near_sql,
    "HPX29": _index_sql,
    "CELL OF": _cell_of_sql,
    "CELLS AROUND": _cells_around_sql,
    "AT BORDER": _is_at_border_sql,
    "STEPS OVER BORDER": _steps_over_border_sql,
    "CELL BEYOND": _cell_beyond_sql,
    "LATITUDES NEAR": _latitudes_near_sql,
    "FILES OF": _files_of_sql,
    "BASE CELLS": lambda e, emit: "arrayJoin(range(toUInt64(12)))",  # noqa: ARG005
}
