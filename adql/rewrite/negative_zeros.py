"""Negative zeros: SQL has one zero, ClickHouse hashes -0.0 and 0.0 apart where it groups, joins, removes duplicates.

Floating-point values that are compared by hash get 0.0 added, which makes 0.0 of both.
"""

from __future__ import annotations

from dataclasses import replace

from adql.ir import (
    Aggregate,
    Call,
    Expr,
    InSubquery,
    Join,
    NameGenerator,
    Query,
    Relation,
    Select,
    Windowed,
    combine_conjuncts,
    map_select,
    split_conjuncts,
)
from adql.rewrite.join_trees import is_join_equality
from clickhouse_schema.datatypes import LONG


def unify_zeros(select: Select, fresh: NameGenerator) -> Select:  # noqa: ARG001  passes are called alike
    """The pass for one SELECT."""
    if isinstance(select.from_, Join):
        select = replace(select, from_=_joins(select.from_))
    keys = {e: _one_zero(e) for e in select.group_by if _is_float(e)}
    if keys:
        select = map_select(select, lambda expr: _exchanged(expr, keys))
    if not select.distinct:
        return select
    order_by = tuple(replace(o, expr=_one_zero(o.expr)) if _is_float(o.expr) else o for o in select.order_by)
    return replace(select, outputs=unify_output_zeros(select).outputs, order_by=order_by)


def unify_output_zeros(query: Query) -> Query:
    """The query with one zero in its outputs."""
    if not any(_is_float(o.expr) for o in query.outputs):
        return query
    outputs = (replace(o, expr=_one_zero(o.expr)) if _is_float(o.expr) else o for o in query.outputs)
    return replace(query, outputs=tuple(outputs))


def _exchanged(expr: Expr, keys: dict[Expr, Expr]) -> Expr:
    """``expr`` with its greatest parts that are keys exchanged."""
    if expr in keys:
        return keys[expr]
    if isinstance(expr, Aggregate) or not expr.children:
        return expr
    return expr.with_children(tuple(_exchanged(child, keys) for child in expr.children))


def unify_compared_zeros(expr: Expr) -> Expr:
    """COUNT(DISTINCT x), PARTITION BY x and x IN (SELECT ...) with one zero in what is compared; others as they are."""
    if isinstance(expr, Windowed):
        expr = replace(expr, partition_by=tuple(_one_zero(p) if _is_float(p) else p for p in expr.partition_by))
    if isinstance(expr, (Aggregate, Windowed)) and expr.distinct and _is_float(expr.args[0]):
        return replace(expr, args=(_one_zero(expr.args[0]),))
    if isinstance(expr, InSubquery) and _is_float(expr.operand):
        return replace(expr, operand=_one_zero(expr.operand), query=unify_output_zeros(expr.query))
    return expr


def _joins(relation: Relation) -> Relation:
    if not isinstance(relation, Join):
        return relation
    condition = combine_conjuncts([_key(c, relation) for c in split_conjuncts(relation.condition)])
    return replace(relation, left=_joins(relation.left), right=_joins(relation.right), condition=condition)


def _key(condition: Expr, join: Join) -> Expr:
    if isinstance(condition, Call) and condition.name in ("AND", "OR"):
        return condition.with_children(tuple([_key(part, join) for part in condition.args]))
    if not (isinstance(condition, Call) and is_join_equality(condition, join)):
        return condition
    left, right = condition.children
    if left.type.is_mixed_with(right.type):
        return condition.with_children(tuple([_whole(side) if _is_float(side) else side for side in (left, right)]))
    if not _is_float(left):
        return condition
    if condition.name == "=":
        right = Call(right.type, "NO NAN", (right,), span=right.span)
    return condition.with_children((_one_zero(left), _one_zero(right)))


def _whole(expr: Expr) -> Expr:
    """A real as the integer that it equals: no type of the engine holds both a BIGINT and a DOUBLE."""
    return Call(LONG, "EXACT OR NULL", (expr,), span=expr.span)


def _is_float(expr: Expr) -> bool:
    return expr.type.is_numeric and not expr.type.is_integer


def _one_zero(expr: Expr) -> Expr:
    if isinstance(expr, Call) and expr.name == "ONE ZERO":
        return expr
    return Call(expr.type, "ONE ZERO", (expr,), span=expr.span)
