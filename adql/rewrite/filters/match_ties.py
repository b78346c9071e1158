"""Ties between the leaves of a SELECT, by nearness or by equality, and the filters that they transfer.

A filter on a leaf removes rows before they are used. Each rule decides whether a removed row could be in the result, or
could keep an outer join from returning NULLs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from adql.ir import Call, Column, Expr, Join, Nearness, Relation, Select, evaluate_constant, split_conjuncts
from adql.rewrite.trees.relation_trees import collect_numbers, find_used_relations

#: Maximum length of a chain of ties in degrees
_MAX_DISTANCE = 30.0

#: Longitude and latitude, or one column that is compared
End = tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Tie:
    """Two ends that are near or equal where the ON of ``join`` is true.

    Attributes
    ----------
    ends
        The columns.
    radius
        Their maximum separation in degrees; 0 for an equality, and if ``row_radius`` is set.
    join
        The join; None for a tie in WHERE.
    is_always
        Whether the condition is true in each row that matters.
    row_radius
        The radius, if it depends on the row of the first end; else None.
    """

    ends: tuple[End, End]
    radius: float
    join: Join | None
    is_always: bool
    row_radius: Expr | None = None


@dataclass(frozen=True, slots=True)
class KnownEnd:
    """An end that satisfies a filter, or is NULL, in each row that matters.

    ``is_sure``: it is not NULL in these rows. ``within``: it satisfies the filter only where the ON of this join is
    true, which helps only on the right side of the join.
    """

    end: End
    is_sure: bool
    within: Join | None = None


#: Returns the ends and the radius of a condition; None if it is not a tie
TieReader = Callable[[Expr], tuple[tuple[End, End], float | Expr] | None]


def read_nearness_tie(condition: Expr) -> tuple[tuple[End, End], float] | None:
    """Read a nearness with a constant radius between columns of two relations.

    Parameters
    ----------
    condition
        Any condition.

    Returns
    -------
    tuple[tuple[End, End], float] or None
        Both positions, and the radius in degrees; None for other conditions, and for radii that are negative or above
        30 degrees.
    """
    near = Nearness.match(condition)
    radius = None if near is None else evaluate_constant(near.radius)
    if near is None or radius is None or not 0 <= radius <= _MAX_DISTANCE:
        return None
    ends = _read_ends(near.left, near.right)
    return None if ends is None else (ends, radius)


def read_row_radius_tie(relation: int, condition: Expr) -> tuple[tuple[End, End], Expr] | None:
    """Read a nearness whose radius depends only on one relation.

    Parameters
    ----------
    relation
        The number of this relation.
    condition
        Any condition.

    Returns
    -------
    tuple[tuple[End, End], Expr] or None
        The position of ``relation``, the other position, and the radius in degrees; None for other conditions.
    """
    near = Nearness.match(condition)
    ends = None if near is None else _read_ends(near.left, near.right)
    if near is None or ends is None or find_used_relations(near.radius) != {relation}:
        return None
    first, second = ends if ends[0][0].relation == relation else ends[::-1]
    return ((first, second), near.radius) if first[0].relation == relation else None


def read_equality_tie(condition: Expr) -> tuple[tuple[End, End], float] | None:
    """Read ``column = column`` of two relations; the distance of the tie is 0. Return None for other conditions."""
    if not (isinstance(condition, Call) and condition.name == "="):
        return None
    left, right = condition.args
    ends = _read_ends((left,), (right,))
    return None if ends is None else (ends, 0.0)


def _read_ends(first: tuple[Expr, ...], second: tuple[Expr, ...]) -> tuple[End, End] | None:
    """Return two ends of different relations; None if the expressions are not such ends."""
    one, other = _read_end(first), _read_end(second)
    return (one, other) if one and other and one[0].relation != other[0].relation else None


def _read_end(exprs: tuple[Expr, ...]) -> End:
    found = tuple(e for e in exprs if isinstance(e, Column))
    return found if len(found) == len(exprs) and len({c.relation for c in found}) == 1 else ()


def find_ties(select: Select, read_tie: TieReader) -> list[Tie]:
    """Find all ties of one kind in WHERE and ON.

    Parameters
    ----------
    select
        The SELECT.
    read_tie
        Reads a condition; returns None for other conditions.

    Returns
    -------
    list[Tie]
        The ties.
    """

    def read_all(condition: Expr | None, join: Join | None, *, is_always: bool) -> Iterator[Tie]:
        for part in split_conjuncts(condition):
            found = read_tie(part)
            if found is None:
                continue
            ends, radius = found
            if isinstance(radius, Expr):
                yield Tie(ends, 0.0, join, is_always, radius)
            else:
                yield Tie(ends, radius, join, is_always)

    def read_tree(relation: Relation, *, below_full: bool) -> Iterator[Tie]:
        if isinstance(relation, Join):
            yield from read_tree(relation.left, below_full=below_full or relation.kind == "FULL")
            is_always = not below_full and relation.kind in ("INNER", "SEMI")
            yield from read_all(relation.condition, relation, is_always=is_always)

    return [*read_all(select.where, None, is_always=True), *read_tree(select.from_, below_full=False)]


def follow_ties(origin: KnownEnd, ties: list[Tie]) -> Iterator[tuple[KnownEnd, float]]:
    """Follow chains of ties.

    Parameters
    ----------
    origin
        The end at which chains start.
    ties
        All ties.

    Yields
    ------
    tuple[KnownEnd, float]
        Each end that a chain reaches, once, and the length of the chain in degrees.
    """
    seen = {origin.end}
    frontier = [(origin, 0.0)]
    while frontier:
        known, distance = frontier.pop(0)
        for tie in ties:
            for here, there in (tie.ends, tie.ends[::-1]):
                if here != known.end or there in seen or distance + tie.radius > _MAX_DISTANCE:
                    continue
                is_sure = _cross_tie(known, tie, there)
                if is_sure is not None:
                    seen.add(there)
                    frontier.append((KnownEnd(there, is_sure), distance + tie.radius))
                    yield frontier[-1]


def _cross_tie(known: KnownEnd, tie: Tie, there: End) -> bool | None:
    """Return whether the end ``there`` is certainly not NULL; None if the tie does not transfer a filter to it."""
    join = tie.join
    if join is None:
        return True if known.within is None else None
    right = collect_numbers(join.right)
    to_right, from_right = there[0].relation in right, known.end[0].relation in right
    if known.within is not None:
        return False if known.within is join and to_right else None
    if join.kind in ("INNER", "SEMI"):
        return tie.is_always and not (join.kind == "SEMI" and to_right)
    if join.kind == "FULL":
        return False if known.is_sure and from_right != to_right else None
    if to_right:  # LEFT, ANTI
        return False
    return True if from_right and known.is_sure else None
