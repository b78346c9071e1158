"""Cross-matches: a join whose condition bounds the separation of two positions becomes an equality of cubes.

Unit vectors fall into a grid of cubes of side s. The right table's rows are repeated for each cube that their ball of
the match radius touches (its bounding box: a superset by construction, at poles and everywhere), the left table's rows
have the one cube they are in. Equal cubes give the candidates, each pair once; the exact test on the vectors, computed
once a row, decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from adql.bound import (
    Call,
    Expr,
    Fresh,
    Join,
    Literal,
    Relation,
    Select,
    columns,
    conjunction,
    conjuncts,
    relations,
)
from adql.resolve.constants import constant
from adql.rewrite.joins import is_equality, replaced
from adql.rewrite.spatial import NEARNESS
from adql.rewrite.wrap import Wrapped
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, LONG

#: Cubes are numbered with 21 bits an axis over [-1, 1].
SMALLEST_CUBE = 2.0**-19

_AXES = ("X", "Y", "Z")


@dataclass(frozen=True, slots=True)
class Match:
    """A nearness between one relation left of ``join`` and its right one."""

    join: Join
    near: Call
    left: Relation
    left_position: tuple[Expr, Expr]
    right_position: tuple[Expr, Expr]
    radius: float


def cross_match(select: Select, fresh: Fresh) -> Select:
    """The pass for one SELECT."""
    while (match := _find(select, select.from_)) is not None:
        select = _rewritten(select, match, fresh)
    return select


def _find(select: Select, relation: Relation) -> Match | None:
    """The innermost join that can be made a cube join and is none yet."""
    if not isinstance(relation, Join):
        return None
    below = _find(select, relation.left)
    if below is not None or relation.kind == "FULL":
        return below
    conditions = list(conjuncts(relation.condition))
    if any(is_equality(c, relation) for c in conditions):
        return None
    if relation.kind == "INNER":
        conditions += conjuncts(select.where)
        if any(is_equality(c, relation) for c in conditions):
            return None
    matches = (_match(relation, c) for c in conditions)
    return next((m for m in matches if m is not None), None)


def _match(join: Join, condition: Expr) -> Match | None:
    if not (isinstance(condition, Call) and condition.name in NEARNESS):
        return None
    radius = constant(condition.args[4])
    if radius is None or not 0 <= radius <= 180:
        return None
    first, second = condition.args[0:2], condition.args[2:4]
    for left, right in ((first, second), (second, first)):
        leaf = _leaf_of(join.left, left)
        if leaf is not None and _leaf_of(join.right, right) is not None:
            return Match(join, condition, leaf, (left[0], left[1]), (right[0], right[1]), radius)
    return None


def _leaf_of(tree: Relation, position: tuple[Expr, ...]) -> Relation | None:
    """The one relation of ``tree`` that a position comes from."""
    used = {c.relation for expr in position for c in columns(expr)}
    return next((leaf for leaf in relations(tree) if used == {leaf.relation}), None)


def _rewritten(select: Select, match: Match, fresh: Fresh) -> Select:
    reach = 2 * math.sin(math.radians(min(match.radius, 180.0)) / 2)
    side = max(2 * reach, SMALLEST_CUBE)
    join = match.join
    right = Wrapped(join.right, select, fresh)
    left = Wrapped(match.left, select, fresh)
    cube = left.export(Call(LONG, "CUBE", (*match.left_position, _double(side))))
    cubes = right.export(Call(LONG, "CUBES", (*match.right_position, _double(side), _double(reach))))
    vectors = [
        w.export(Call(DOUBLE, axis, p))
        for w, p in ((left, match.left_position), (right, match.right_position))
        for axis in _AXES
    ]
    exact = Call(BOOLEAN, "VECTORS " + match.near.name, (*vectors, _double(match.radius)), span=match.near.span)

    own, others = _split(select, join)
    inner = [Call(BOOLEAN, "IS POSITION", match.right_position), *own]
    condition = conjunction([Call(BOOLEAN, "=", (cube, cubes)), *others])
    joined = replace(
        join, left=replaced(join.left, match.left, left.derived()), right=right.derived(inner), condition=condition
    )
    select = replace(select, from_=replaced(select.from_, join, joined), where=_without(select, join, own))
    return _exchanged(right.apply(left.apply(select)), match.near, exact, left, right)


def _split(select: Select, join: Join) -> tuple[list[Expr], list[Expr]]:
    """Conditions on the right table alone, which are tested before its rows are repeated, and the join's other ones."""
    alone = {leaf.relation for leaf in relations(join.right)}
    pool = list(conjuncts(join.condition))
    own = [c for c in pool if {x.relation for x in columns(c)} == alone]
    others = [c for c in pool if c not in own]
    if join.kind == "INNER":
        own += [c for c in conjuncts(select.where) if {x.relation for x in columns(c)} == alone]
    return own, others


def _without(select: Select, join: Join, own: list[Expr]) -> Expr | None:
    if join.kind != "INNER":
        return select.where
    return conjunction([c for c in conjuncts(select.where) if c not in own])


def _exchanged(select: Select, near: Call, exact: Expr, left: Wrapped, right: Wrapped) -> Select:
    """The nearness, where it stands as a conjunct, tested on the vectors."""
    old = right.renamed(left.renamed(near))

    def change(condition: Expr | None) -> Expr | None:
        return conjunction([exact if c == old else c for c in conjuncts(condition)])

    def tree(relation: Relation) -> Relation:
        if not isinstance(relation, Join):
            return relation
        return replace(
            relation, left=tree(relation.left), right=tree(relation.right), condition=change(relation.condition)
        )

    return replace(select, from_=tree(select.from_), where=change(select.where))


def _double(value: float) -> Literal:
    return Literal(DOUBLE, value)
