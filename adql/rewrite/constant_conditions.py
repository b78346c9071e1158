"""Conditions without columns in ON, held back from the engine.

It computes them beforehand, and where one makes an AND below an OR false (``a.x < b.x OR (1 = 2 AND a.y > 3)``) it
finds no keys in the rest of an outer join's ON.
"""

from __future__ import annotations

from dataclasses import replace

from adql.ir import (
    Aggregate,
    Call,
    Column,
    Exists,
    Expr,
    InSubquery,
    Join,
    NameGenerator,
    Relation,
    Select,
    Subquery,
    combine_conjuncts,
    split_conjuncts,
    walk_expr,
)
from clickhouse_schema.datatypes import BOOLEAN

_VARIABLE = (Column, Aggregate, Subquery, InSubquery, Exists)


def hold_constants(select: Select, fresh: NameGenerator) -> Select:  # noqa: ARG001  passes are called alike
    """The pass for one SELECT."""
    return replace(select, from_=_joins(select.from_)) if isinstance(select.from_, Join) else select


def _joins(relation: Relation) -> Relation:
    if not isinstance(relation, Join):
        return relation
    condition = combine_conjuncts([_held(c) if _is_logic(c) else c for c in split_conjuncts(relation.condition)])
    return replace(relation, left=_joins(relation.left), right=_joins(relation.right), condition=condition)


def _held(expr: Expr) -> Expr:
    """The condition with its constant predicates held."""
    if _is_logic(expr):
        return expr.with_children(tuple(map(_held, expr.children)))
    if not expr.type.is_boolean or any(isinstance(part, _VARIABLE) for part in walk_expr(expr)):
        return expr
    return Call(BOOLEAN, "HELD", (expr,), span=expr.span)


def _is_logic(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.name in ("AND", "OR", "NOT")
