"""The emitter's part for HEALPix cells that a small table of a join gives to a large one."""

from __future__ import annotations

from collections.abc import Callable

from adql.clickhouse.sky.neighbour_cell_sql import cell, cells_around
from adql.ir import Call, Expr, Literal
from clickhouse_schema.healpix import index_sql

Emit = Callable[[Expr], str]


def _order(expr: Expr) -> int:
    assert isinstance(expr, Literal)  # noqa: S101  the pass that makes these calls knows it
    assert isinstance(expr.value, int)  # noqa: S101
    return expr.value


def _index(expr: Call, emit: Emit) -> str:
    lon, lat = (emit(arg) for arg in expr.args)
    return index_sql(lon, lat)


def _cell_of(expr: Call, emit: Emit) -> str:
    return cell(emit(expr.args[0]), _order(expr.args[1]))


def _cells_around(expr: Call, emit: Emit) -> str:
    return f"arrayJoin({cells_around(emit(expr.args[0]), _order(expr.args[1]))})"


CELLS: dict[str, Callable[[Call, Emit], str]] = {
    "HPX29": _index,
    "CELL OF": _cell_of,
    "CELLS AROUND": _cells_around,
    "BASE CELLS": lambda expr, emit: "arrayJoin(range(toUInt64(12)))",  # noqa: ARG005  called like the others
}
