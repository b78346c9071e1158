"""Recognize conditions that the passes add to a query: covers, vector nearnesses, keys that are always true."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
    walk_expr,
)
from adql.query_analysis import cover_region, find_confinements
from adql.regions import Moc
from tap_service.services.estimates.row_density import RowDensity


def walk_inner_conditions(relation: Relation) -> Iterator[Expr]:
    """Yield the conjuncts of ON that all rows of the result satisfy."""
    if isinstance(relation, Join):
        yield from walk_inner_conditions(relation.left)
        yield from walk_inner_conditions(relation.right)
        if relation.kind in ("INNER", "SEMI"):
            yield from split_conjuncts(relation.condition)


def find_covers(relation: int, select: Select) -> Iterator[InCells]:
    """Yield the covers of a relation in WHERE and inner joins."""
    for condition in (*split_conjuncts(select.where), *walk_inner_conditions(select.from_)):
        if not (isinstance(condition, InCells) and isinstance(condition.index, Column)):
            continue
        if condition.index.relation == relation:
            yield condition


def confine_to_cover(density: RowDensity, cover: InCells) -> RowDensity:
    """Return the density of the rows in the region of a cover, or in its cells if the region is unknown."""
    if cover.region is None:
        return density.confine_to(Moc.from_cells(cover.cells))
    close = cover_region(cover.region)
    return density.confine_to(Moc.from_cells(close.all), Moc.from_cells(close.inside))


def is_region_test(condition: Expr, is_position: Callable[[Column, Column], bool]) -> bool:
    """Return whether a condition confines the position of a table to a region, for which there is a cover.

    Parameters
    ----------
    condition : Expr
        The condition.
    is_position : Callable[[Column, Column], bool]
        Returns whether two columns are the position of a table.
    """
    found = find_confinements(condition, is_position)
    return any(is_position(*position) and confinement.is_exact for position, confinement in found.items())


def read_vector_nearness(condition: Expr) -> VectorNearness | None:
    """Return the operands of the exact test of a cross-match; None for other conditions."""
    if isinstance(condition, Call) and condition.name in ("VECTORS NEAR", "VECTORS NEARER"):
        return VectorNearness.from_call(condition)
    return None


def is_always_true_key(condition: Expr) -> bool:
    """Return whether a condition is an equality that ``add_outer_keys`` or the distribution to shards has added."""
    return "ONE" in collect_names(condition)


def is_radius_test(condition: Call) -> bool:
    """Return whether a condition is ``radius >= 0.0``, as in cross-matches with a radius per row."""
    return condition.name == ">=" and evaluate_constant(condition.args[1]) == 0.0


def collect_names(expr: Expr) -> set[str]:
    """Return the names of the operators, functions and set functions in an expression."""
    return {part.name for part in walk_expr(expr) if isinstance(part, (Call, Aggregate))}
