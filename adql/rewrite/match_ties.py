"""Tables of a SELECT that are tied together, by nearness or by equality, and whom a condition on one end concerns.

A condition that follows for a table filters its rows before anything else is done with them. So each rule here answers
one question: could a row without it be in a result, or keep an outer join from filling up with NULLs?
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from adql.ir import (
    Call,
    Column,
    Expr,
    Join,
    Relation,
    Select,
    evaluate_constant,
    split_conjuncts,
    walk_columns,
    walk_leaves,
)
from adql.rewrite.impossible_conditions import NEARNESS

#: Degrees of a chain of matches, at most
_FARTHEST = 30.0

#: Longitude and latitude, or one column that is compared
End = tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Tie:
    """Two ends within ``radius`` degrees, or equal (0), where ``join``'s ON, or without a join WHERE, is true.

    ``always``: it is true in every row of use. ``of_row``: the radius where it depends on the first end's row, and
    ``radius`` is 0.
    """

    ends: tuple[End, End]
    radius: float
    join: Join | None
    always: bool
    of_row: Expr | None = None


@dataclass(frozen=True, slots=True)
class KnownEnd:
    """An end of which something is known, in every row of use or NULL.

    ``sure``: in those rows it is not NULL. ``within``: the thing is known where this join's ON is true, and of use for
    its right side alone.
    """

    end: End
    sure: bool
    within: Join | None = None


#: The ends and the radius of a condition; None if it is no match
TieReader = Callable[[Expr], tuple[tuple[End, End], float | Expr] | None]


def read_nearness(condition: Expr) -> tuple[tuple[End, End], float] | None:
    """Of a NEAR with a constant radius between columns of two relations."""
    if not (isinstance(condition, Call) and condition.name in NEARNESS):
        return None
    lon1, lat1, lon2, lat2, bound = condition.args
    radius = evaluate_constant(bound)
    first, second = _end(lon1, lat1), _end(lon2, lat2)
    if radius is None or not 0 <= radius <= _FARTHEST or not first or not second:
        return None
    return None if first[0].relation == second[0].relation else ((first, second), radius)


def read_nearness_of_row(relation: int, condition: Expr) -> tuple[tuple[End, End], Expr] | None:
    """Of a NEAR between ``relation``, the first end, and another one, whose radius is of columns of ``relation``."""
    if not (isinstance(condition, Call) and condition.name in NEARNESS):
        return None
    lon1, lat1, lon2, lat2, radius = condition.args
    first, second = _end(lon1, lat1), _end(lon2, lat2)
    if not first or not second or {column.relation for column in walk_columns(radius)} != {relation}:
        return None
    if second[0].relation == relation:
        first, second = second, first
    return ((first, second), radius) if first[0].relation == relation != second[0].relation else None


def read_equality(condition: Expr) -> tuple[tuple[End, End], float] | None:
    """Of ``column = column`` of two relations."""
    if not (isinstance(condition, Call) and condition.name == "="):
        return None
    first, second = (_end(arg) for arg in condition.args)
    if not first or not second or first[0].relation == second[0].relation:
        return None
    return (first, second), 0.0


def _end(*exprs: Expr) -> End:
    found = tuple(e for e in exprs if isinstance(e, Column))
    return found if len(found) == len(exprs) and len({c.relation for c in found}) == 1 else ()


def find_ties(select: Select, kind: TieReader) -> list[Tie]:
    """All of one kind in WHERE and ON."""

    def of(condition: Expr | None, join: Join | None, *, always: bool) -> Iterator[Tie]:
        for part in split_conjuncts(condition):
            if (found := kind(part)) is not None:
                ends, radius = found
                if isinstance(radius, Expr):
                    yield Tie(ends, 0.0, join, always, radius)
                else:
                    yield Tie(ends, radius, join, always)

    def tree(relation: Relation, *, outer: bool) -> Iterator[Tie]:
        if isinstance(relation, Join):
            yield from tree(relation.left, outer=outer or relation.kind == "FULL")
            always = not outer and relation.kind in ("INNER", "SEMI")
            yield from of(relation.condition, relation, always=always)

    return [*of(select.where, None, always=True), *tree(select.from_, outer=False)]


def follow_ties(origin: KnownEnd, matches: list[Tie]) -> Iterator[tuple[KnownEnd, float]]:
    """The ends within some distance of ``origin``, in degrees, along chains of matches."""
    seen = {origin.end}
    frontier = [(origin, 0.0)]
    while frontier:
        known, distance = frontier.pop(0)
        for match in matches:
            for here, there in (match.ends, match.ends[::-1]):
                if here != known.end or there in seen or distance + match.radius > _FARTHEST:
                    continue
                sure = _across(known, match, there)
                if sure is not None:
                    seen.add(there)
                    frontier.append((KnownEnd(there, sure), distance + match.radius))
                    yield frontier[-1]


def _across(known: KnownEnd, match: Tie, there: End) -> bool | None:
    """Whether the end ``there`` is sure not to be NULL; None if nothing follows for it."""
    join = match.join
    if join is None:
        return True if known.within is None else None
    right = {leaf.relation for leaf in walk_leaves(join.right)}
    to_right, from_right = there[0].relation in right, known.end[0].relation in right
    if known.within is not None:
        return False if known.within is join and to_right else None
    if join.kind in ("INNER", "SEMI"):
        return match.always and not (join.kind == "SEMI" and to_right)
    if join.kind == "FULL":
        return False if known.sure and from_right != to_right else None
    if to_right:  # LEFT, ANTI
        return False
    return True if from_right and known.sure else None
