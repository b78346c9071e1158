"""Empty the joins whose condition is never true, so that ClickHouse tests no pairs of rows.

    a LEFT JOIN b ON 1 = 2 AND ...
    a LEFT JOIN (SELECT ... FROM b WHERE FALSE) ON TRUE

A FULL JOIN keeps its right rows, so it gets a key that never matches. This pass runs after ``make_left_deep``
and before the passes that plan joins.
"""

from __future__ import annotations

from adql.ir import (
    Call,
    Expr,
    Literal,
    Nearness,
    Select,
    TranslationContext,
    evaluate_constant,
    split_conjuncts,
    walk_joins,
)
from adql.node_classes import replace
from adql.rewrite.joins.join_trees import add_equality
from adql.rewrite.trees.derived_tables import wrap_relation
from adql.rewrite.trees.relation_trees import replace_relation
from clickhouse_schema.datatypes import BOOLEAN, INT

_FALSE = Literal(BOOLEAN, False)
_TWO = Literal(INT, 2)


def empty_impossible_joins(select: Select, context: TranslationContext) -> Select:
    """Remove the right rows of joins whose condition is never true; in a FULL JOIN, remove the partners.

    Expects no RIGHT JOIN. A WHERE that is never true becomes FALSE.
    """
    if any(is_never_true(c) for c in split_conjuncts(select.where)):
        select = replace(select, where=_FALSE)
    while True:
        impossible = (j for j in walk_joins(select.from_) if any(map(is_never_true, split_conjuncts(j.condition))))
        join = next(impossible, None)
        if join is None:
            return select
        bare = replace(join, condition=None)
        select = replace(select, from_=replace_relation(select.from_, join, bare))
        if join.kind == "FULL":
            select = add_equality(select, bare, context, _TWO)
        else:
            select = wrap_relation(select, bare.right, context, [_FALSE])


def is_never_true(condition: Expr, negated: bool = False) -> bool:
    """Return whether a condition is certainly never true.

    Parameters
    ----------
    condition
        The condition.
    negated
        Whether to test instead that it is never false.

    Returns
    -------
    bool
        False if this is unknown.
    """
    if isinstance(condition, Literal):
        return condition.value is None or bool(condition.value) == negated
    if not isinstance(condition, Call):
        return False
    if condition.name == "NOT":
        return is_never_true(condition.args[0], not negated)
    if condition.name in ("AND", "OR"):
        quantifier = any if (condition.name == "AND") != negated else all
        return quantifier(is_never_true(part, negated) for part in condition.args)
    if condition.name not in ("=", "<>"):
        return _is_never_near(condition, negated)
    left = _read_number(condition.args[0])
    right = None if left is None else _read_number(condition.args[1])
    if right is None:
        return False
    return ((left == right) == (condition.name == "=")) == negated


def _read_number(expr: Expr) -> int | float | None:
    """Return the number of a literal with its sign; ``evaluate_constant`` would round integers."""
    if isinstance(expr, Call) and expr.name == "NEG":
        value = _read_number(expr.args[0])
        return None if value is None else -value
    if isinstance(expr, Literal) and isinstance(expr.value, (int, float)) and not isinstance(expr.value, bool):
        return expr.value
    return None


def _is_never_near(condition: Expr, negated: bool) -> bool:
    """Return whether a nearness requires a separation below 0 degrees or, negated, above 180 degrees."""
    near = Nearness.match(condition)
    radius = None if near is None else evaluate_constant(near.radius)
    if near is None or radius is None:
        return False
    if negated:
        return radius > 180 or (radius == 180 and not near.is_strict)
    return radius < 0 or (radius == 0 and near.is_strict)
