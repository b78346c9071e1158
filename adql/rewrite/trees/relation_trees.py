"""Functions that read and change join trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from adql.ir import (
    SUBQUERIES,
    Call,
    Derived,
    Expr,
    Join,
    Literal,
    Relation,
    Scan,
    Select,
    walk_columns,
    walk_expr,
    walk_leaves,
)
from adql.node_classes import replace

Leaf = Scan | Derived

#: The numbers of the relations that each side of an equality uses
EqualitySides = tuple[set[int], set[int]]


def collect_leaves(relation: Relation) -> dict[int, Leaf]:
    """Return the leaves of a join tree by relation number."""
    return {leaf.relation: leaf for leaf in walk_leaves(relation)}


def collect_numbers(relation: Relation) -> frozenset[int]:
    """Return the relation numbers of the leaves of a join tree, without the relations inside derived tables."""
    return frozenset(leaf.relation for leaf in walk_leaves(relation))


def find_used_relations(expr: Expr) -> set[int]:
    """Return the numbers of the relations whose columns an expression uses, without the columns in its subqueries."""
    return {column.relation for column in walk_columns(expr)}


def has_subquery(expr: Expr) -> bool:
    """Return whether an expression contains a subquery."""
    return any(isinstance(part, SUBQUERIES) for part in walk_expr(expr))


def is_join_equality(condition: Expr, join: Join) -> bool:
    """Return whether a condition is an equality, or SAME, of columns of one side with columns of the other side.

    Parameters
    ----------
    condition
        The condition.
    join
        The join.

    Returns
    -------
    bool
        True if ClickHouse can join by the condition.
    """
    sides = find_equality_sides(condition)
    return sides is not None and is_across(*sides, collect_numbers(join.right))


def joins_both_sides(condition: Expr, join: Join) -> bool:
    """Return whether a condition uses columns of both sides of a join, and no other columns.

    Parameters
    ----------
    condition
        The condition.
    join
        The join.

    Returns
    -------
    bool
        False also for a condition that uses columns of an outer query.
    """
    left, right = collect_numbers(join.left), collect_numbers(join.right)
    used = find_used_relations(condition)
    return bool(used & left and used & right) and used <= left | right


def has_join_key(join: Join, conditions: Iterable[Expr]) -> bool:
    """Return whether a join finds partners by equal values.

    Parameters
    ----------
    join
        The join.
    conditions
        The conjuncts of its ON.

    Returns
    -------
    bool
        True if one of them is an equality of both sides; an equality with a constant column does not count.
    """
    constants = {
        (leaf.relation, output.alias)
        for leaf in walk_leaves(join.right)
        if isinstance(leaf, Derived) and isinstance(leaf.query, Select)
        for output in leaf.query.outputs
        if isinstance(output.expr, Literal)
    }
    return any(
        is_join_equality(c, join) and not any((one.relation, one.name) in constants for one in walk_columns(c))
        for c in conditions
    )


def find_equality_sides(condition: Expr) -> EqualitySides | None:
    """Return the relations that the two sides of an equality use.

    Parameters
    ----------
    condition
        Any condition.

    Returns
    -------
    EqualitySides or None
        The relation numbers of the first and of the second operand, which are empty for constants; None if
        ``condition`` is neither ``=`` nor SAME.
    """
    if not (isinstance(condition, Call) and condition.name in ("=", "SAME")):
        return None
    one, other = condition.args
    return find_used_relations(one), find_used_relations(other)


def is_across(one: set[int], other: set[int], right: frozenset[int]) -> bool:
    """Return whether a condition on two sets of relations crosses a join.

    Parameters
    ----------
    one, other
        The relation numbers of both sets.
    right
        The relation numbers of the right side of the join.

    Returns
    -------
    bool
        True if one set is in ``right`` and the other is outside it; False if a set is empty.
    """
    if not one or not other:
        return False
    return (one <= right and right.isdisjoint(other)) or (other <= right and right.isdisjoint(one))


def replace_relation(relation: Relation, old: Relation, new: Relation) -> Relation:
    """Replace a node of a join tree.

    Parameters
    ----------
    relation
        The join tree.
    old, new
        The node, compared by identity, and the node that replaces it.

    Returns
    -------
    Relation
        The changed join tree.
    """
    if relation is old:
        return new
    if not isinstance(relation, Join):
        return relation
    return relation.with_sides(replace_relation(relation.left, old, new), replace_relation(relation.right, old, new))


def map_conditions(relation: Relation, change: Callable[[Join], Expr | None]) -> Relation:
    """Change the ON of each join of a join tree, starting at the root.

    Parameters
    ----------
    relation
        The join tree.
    change
        Returns the new condition of a join.

    Returns
    -------
    Relation
        The changed join tree.
    """
    if not isinstance(relation, Join):
        return relation
    condition = change(relation)
    mapped = relation.with_sides(map_conditions(relation.left, change), map_conditions(relation.right, change))
    return mapped if condition is mapped.condition else replace(mapped, condition=condition)
