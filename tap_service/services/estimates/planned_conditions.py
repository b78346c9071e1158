"""Recognize the conditions that the passes add to a query: covers, vector nearnesses, keys that are always true."""

from __future__ import annotations

from collections.abc import Iterator

from adql.ir import (
    Aggregate,
    Call,
    Column,
    Expr,
    InCells,
    Join,
    Relation,
    Select,
    VectorNearness,
    evaluate_constant,
    split_conjuncts,
    walk_columns,
    walk_expr,
    walk_leaves,
)
from adql.regions import Moc


def walk_inner_conditions(relation: Relation) -> Iterator[Expr]:
    """Yield the conjuncts of ON that every row of the result satisfies."""
    if isinstance(relation, Join):
        yield from walk_inner_conditions(relation.left)
        yield from walk_inner_conditions(relation.right)
        if relation.kind in ("INNER", "SEMI"):
            yield from split_conjuncts(relation.condition)


def find_covers(relation: int, select: Select) -> Iterator[tuple[Moc, Moc | None]]:
    """Yield the covers of a relation in WHERE and inner joins, each with its cells wholly inside, if there are such."""
    conditions = [*split_conjuncts(select.where), *walk_inner_conditions(select.from_)]
    tests = [c.args[0] for c in conditions if isinstance(c, Call) and c.name == "OR"]
    for cover in conditions:
        if not isinstance(cover, InCells):
            continue
        if isinstance(cover.index, Column) and cover.index.relation == relation:
            inside = [test for test in tests if isinstance(test, InCells) and test.index == cover.index]
            yield Moc.from_cells(cover.cells), Moc.from_cells(inside[0].cells) if len(inside) == 1 else None


def read_vector_nearness(condition: Expr) -> VectorNearness | None:
    """Return the operands of the exact test of a cross-match; None for any other condition."""
    if isinstance(condition, Call) and condition.name in ("VECTORS NEAR", "VECTORS NEARER"):
        return VectorNearness.from_call(condition)
    return None


def joins_both_sides(condition: Expr, join: Join) -> bool:
    """Return whether a condition uses columns of both sides of a join, and no others."""
    left, right = ({leaf.relation for leaf in walk_leaves(side)} for side in (join.left, join.right))
    used = {column.relation for column in walk_columns(condition)}
    return bool(used & left and used & right) and used <= left | right


def is_always_true_key(condition: Expr) -> bool:
    """Return whether a condition is an equality that ``add_outer_keys`` or distribution has added."""
    return "ONE" in collect_names(condition)


def is_radius_test(condition: Call) -> bool:
    """Return whether a condition is ``radius >= 0.0``, which cross-matches with radii of rows have."""
    return condition.name == ">=" and evaluate_constant(condition.args[1]) == 0.0


def collect_names(expr: Expr) -> set[str]:
    """Return the names of the operators, functions and set functions in an expression."""
    return {part.name for part in walk_expr(expr) if isinstance(part, (Call, Aggregate))}
