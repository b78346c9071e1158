"""Make -0.0 equal 0.0 where ClickHouse compares by hash: in GROUP BY, DISTINCT, joins, IN and PARTITION BY.

SQL has one zero; ClickHouse hashes -0.0 and 0.0 apart. ``ONE ZERO`` adds 0.0, which makes 0.0 of both.

    SELECT x FROM t GROUP BY x
    SELECT x + 0.0 FROM t GROUP BY x + 0.0

Comes last, when all keys are there.
"""

from __future__ import annotations

from adql.ir import (
    Aggregate,
    Call,
    Expr,
    InSubquery,
    Join,
    NameGenerator,
    Query,
    Select,
    Windowed,
    combine_conjuncts,
    map_select,
    split_conjuncts,
)
from adql.node_classes import replace
from adql.rewrite.trees.relation_trees import is_join_equality, map_conditions
from clickhouse_schema.datatypes import LONG


def unify_zeros(select: Select, fresh: NameGenerator) -> Select:  # noqa: ARG001  every pass has this signature
    """Unify the zeros of join keys, group keys and the outputs of a SELECT DISTINCT."""
    if isinstance(select.from_, Join):
        select = select.with_from(map_conditions(select.from_, _unify_in_join))
    keys = {e: _add_zero(e) for e in select.group_by if _is_float(e)}
    if keys:
        select = map_select(select, lambda expr: _replace_keys(expr, keys))
    if not select.distinct:
        return select
    order_by = tuple(replace(o, expr=_unify_if_float(o.expr)) for o in select.order_by)
    return replace(select, outputs=unify_output_zeros(select).outputs, order_by=order_by)


def unify_output_zeros(query: Query) -> Query:
    """Unify the zeros of a query's outputs."""
    if not any(_is_float(o.expr) for o in query.outputs):
        return query
    return replace(query, outputs=tuple(replace(o, expr=_unify_if_float(o.expr)) for o in query.outputs))


def unify_compared_zeros(expr: Expr) -> Expr:
    """Unify the zeros that COUNT(DISTINCT x), PARTITION BY x or x IN (SELECT ...) compares."""
    if isinstance(expr, Windowed):
        expr = replace(expr, partition_by=tuple(map(_unify_if_float, expr.partition_by)))
    if isinstance(expr, (Aggregate, Windowed)) and expr.distinct and _is_float(expr.args[0]):
        return replace(expr, args=(_add_zero(expr.args[0]),))
    if isinstance(expr, InSubquery) and _is_float(expr.operand):
        return replace(expr, operand=_add_zero(expr.operand), query=unify_output_zeros(expr.query))
    return expr


def _replace_keys(expr: Expr, keys: dict[Expr, Expr]) -> Expr:
    """Replace the largest parts of ``expr`` that are keys."""
    if expr in keys:
        return keys[expr]
    if isinstance(expr, Aggregate) or not expr.children:
        return expr
    return expr.with_children(tuple(_replace_keys(child, keys) for child in expr.children))


def _unify_in_join(join: Join) -> Expr | None:
    return combine_conjuncts([_unify_in_condition(c, join) for c in split_conjuncts(join.condition)])


def _unify_in_condition(condition: Expr, join: Join) -> Expr:
    if isinstance(condition, Call) and condition.name in ("AND", "OR"):
        return condition.with_children(tuple([_unify_in_condition(part, join) for part in condition.args]))
    if not (isinstance(condition, Call) and is_join_equality(condition, join)):
        return condition
    left, right = condition.children
    if left.type.is_mixed_with(right.type):
        return condition.with_children(tuple([_cast_to_integer(side) for side in (left, right)]))
    if not _is_float(left):
        return condition
    if condition.name == "=":
        right = Call(right.type, "NO NAN", (right,), span=right.span)
    return condition.with_children((_add_zero(left), _add_zero(right)))


def _cast_to_integer(expr: Expr) -> Expr:
    """Return a real as the integer that it equals: no ClickHouse type holds both every BIGINT and every DOUBLE."""
    return Call(LONG, "EXACT OR NULL", (expr,), span=expr.span) if _is_float(expr) else expr


def _is_float(expr: Expr) -> bool:
    return expr.type.is_numeric and not expr.type.is_integer


def _unify_if_float(expr: Expr) -> Expr:
    return _add_zero(expr) if _is_float(expr) else expr


def _add_zero(expr: Expr) -> Expr:
    if isinstance(expr, Call) and expr.name == "ONE ZERO":
        return expr
    return Call(expr.type, "ONE ZERO", (expr,), span=expr.span)
