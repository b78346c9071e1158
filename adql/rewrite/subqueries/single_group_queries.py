"""Set functions without GROUP BY: queries that have one row, even if they read no rows."""

from __future__ import annotations

from adql.ir import Aggregate, Call, Expr, Literal, Query, Select, transform_expr
from adql.rewrite.trees.derived_tables import make_null
from clickhouse_schema.datatypes import LONG, ColumnType

#: An output that makes a query grouped, and is NULL only if a LEFT JOIN finds no group
GROUP_MARK = Aggregate(LONG, "COUNT", ())


def is_one_row(query: Query) -> bool:
    return isinstance(query, Select) and query.is_grouped and not query.group_by


def evaluate_without_rows(expr: Expr) -> Expr:
    """Return the value of an expression of set functions over no rows: COUNT is 0, other set functions are NULL."""
    return transform_expr(expr, _evaluate_aggregate)


def _evaluate_aggregate(expr: Expr) -> Expr:
    if not isinstance(expr, Aggregate):
        return expr
    return Literal(expr.type, 0) if expr.name == "COUNT" else make_typed_null(expr.type)


def make_typed_null(kind: ColumnType) -> Expr:
    """Return NULL with a type that the engine knows; an empty array for arrays."""
    return make_null(kind) if kind.is_array else Call(kind, "CAST", (make_null(kind),))
