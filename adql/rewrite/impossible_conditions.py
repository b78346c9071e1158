"""Conditions that can be true in no row, and joins by them: known to be empty, so that no pair is tested."""

from __future__ import annotations

from dataclasses import replace

from adql.ir import Call, Expr, Join, Literal, NameGenerator, Relation, Select, evaluate_constant, split_conjuncts
from adql.rewrite.derived_tables import DerivedBuilder
from adql.rewrite.join_trees import add_equality, replace_relation
from clickhouse_schema.datatypes import BOOLEAN, INT

#: Conditions that bound the separation of two positions
NEARNESS = ("NEAR", "NEARER")

_FALSE = Literal(BOOLEAN, False)
_TWO = Literal(INT, 2)


def is_never_true(condition: Expr, negated: bool = False) -> bool:
    """Whether a condition is true in no row (false in none, if ``negated``); False if that is not known."""
    if isinstance(condition, Literal):
        return condition.value is None or bool(condition.value) == negated
    if not isinstance(condition, Call):
        return False
    if condition.name == "NOT":
        return is_never_true(condition.args[0], not negated)
    if condition.name in ("AND", "OR"):
        some = any if (condition.name == "AND") != negated else all
        return some(is_never_true(part, negated) for part in condition.args)
    if condition.name in NEARNESS:
        return _is_never_near(condition, negated)
    if condition.name not in ("=", "<>"):
        return False
    left, right = (_number(arg) for arg in condition.args)
    if left is None or right is None:
        return False
    return ((left == right) == (condition.name == "=")) == negated


def _number(expr: Expr) -> int | float | None:
    """The number of a literal with its sign; None of anything else, since ``evaluate_constant`` rounds integers."""
    if isinstance(expr, Call) and expr.name == "NEG":
        value = _number(expr.args[0])
        return None if value is None else -value
    if isinstance(expr, Literal) and isinstance(expr.value, (int, float)) and not isinstance(expr.value, bool):
        return expr.value
    return None


def _is_never_near(condition: Call, negated: bool) -> bool:
    """Nothing is nearer than 0 degrees, and nothing farther away than 180."""
    radius = evaluate_constant(condition.args[4])
    if radius is None:
        return False
    strict = condition.name == "NEARER"
    if negated:
        return radius > 180 or (radius == 180 and not strict)
    return radius < 0 or (radius == 0 and strict)


def empty_impossible_joins(select: Select, fresh: NameGenerator) -> Select:
    """The pass for one SELECT: the right side of a join that matches nothing has no rows; in a FULL JOIN, no partners.

    It comes before the passes that plan joins, and after the one that leaves no RIGHT JOIN.
    """
    if any(is_never_true(c) for c in split_conjuncts(select.where)):
        select = replace(select, where=_FALSE)
    while (join := _find(select.from_)) is not None:
        bare = replace(join, condition=None)
        select = replace(select, from_=replace_relation(select.from_, join, bare))
        if join.kind == "FULL":
            select = add_equality(select, bare, fresh, _TWO)
            continue
        wrapped = DerivedBuilder(join.right, select, fresh)
        empty = replace(bare, right=wrapped.build_derived([_FALSE]))
        select = wrapped.rename_select(replace(select, from_=replace_relation(select.from_, bare, empty)))
    return select


def _find(relation: Relation) -> Join | None:
    """The innermost join with such a condition."""
    if not isinstance(relation, Join):
        return None
    below = _find(relation.left) or _find(relation.right)
    if below is not None:
        return below
    return relation if any(is_never_true(c) for c in split_conjuncts(relation.condition)) else None
