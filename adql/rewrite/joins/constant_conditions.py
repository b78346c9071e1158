"""Hide constant predicates in ON from ClickHouse.

ClickHouse evaluates them before planning. If one makes an AND below an OR false, as in ``a.x < b.x OR (1 = 2 AND a.y >
3)``, ClickHouse finds no keys in the rest of the ON of an outer join.

    ON a.id = b.id AND (a.x < b.x OR (1 = 2 AND a.y > 3))
    ON a.id = b.id AND (a.x < b.x OR (HELD(1 = 2) AND a.y > 3))

This pass runs after all passes that add conditions to an ON.
"""

from __future__ import annotations

from adql.ir import (
    Aggregate,
    Call,
    Column,
    Exists,
    Expr,
    InSubquery,
    Join,
    Select,
    Subquery,
    TranslationContext,
    combine_conjuncts,
    split_conjuncts,
    walk_expr,
)
from adql.rewrite.trees.relation_trees import map_conditions
from clickhouse_schema.datatypes import BOOLEAN

_VARIABLE = (Column, Aggregate, Subquery, InSubquery, Exists)


def hold_constants(select: Select, context: TranslationContext) -> Select:  # noqa: ARG001  every pass has this signature
    """Wrap the constant predicates below AND, OR and NOT in the ON of each join.

    A conjunct that is itself a constant predicate is not wrapped.
    """
    return select.with_from(map_conditions(select.from_, _hold_in_join))


def _hold_in_join(join: Join) -> Expr | None:
    return combine_conjuncts([_hold_in_expr(c) if _is_logic(c) else c for c in split_conjuncts(join.condition)])


def _hold_in_expr(expr: Expr) -> Expr:
    if _is_logic(expr):
        return expr.with_children(tuple(map(_hold_in_expr, expr.children)))
    if not expr.type.is_boolean or any(isinstance(part, _VARIABLE) for part in walk_expr(expr)):
        return expr
    return Call(BOOLEAN, "HELD", (expr,), span=expr.span)


def _is_logic(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.name in ("AND", "OR", "NOT")
