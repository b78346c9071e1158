"""Cross-matches: a join whose condition bounds the separation of two positions becomes an equality of cubes.

Unit vectors fall into a grid of cubes of side s. The right table's rows are repeated for each cube that their ball of
the match radius touches (its bounding box: a superset by construction, at poles and everywhere), the left table's rows
have the one cube they are in. Equal cubes give the candidates, each pair once; the exact test on the vectors, computed
once a row, decides.

Where the radius depends on rows there is a grid for each of a few levels of radii
(``adql.clickhouse.sky.separation_sql``), and a cube's
number tells its level: a row is repeated for the cubes of its own radius' level, the rows of the other side for each
level that there is. So a few large radii cost their own pairs alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from adql.clickhouse.sky.separation_sql import SMALLEST_CUBE
from adql.ir import (
    UNTYPED,
    Call,
    Column,
    Expr,
    Join,
    Literal,
    NameGenerator,
    Relation,
    Select,
    Subquery,
    combine_conjuncts,
    evaluate_constant,
    map_select,
    split_conjuncts,
    transform_expr,
    walk_columns,
    walk_leaves,
)
from adql.rewrite.derived_tables import DerivedBuilder, make_select, relation_numbers
from adql.rewrite.impossible_conditions import NEARNESS
from adql.rewrite.join_trees import finish_joins, is_join_equality, replace_relation
from adql.rewrite.match_sizes import choose_cube_side, find_crowding, find_row_count
from adql.rewrite.negative_zeros import unify_zeros
from adql.rewrite.radius_bounds import RadiusBounds, bound_radius
from adql.rewrite.repeatable_relations import is_repeatable
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, LONG

_AXES = ("X", "Y", "Z")

#: Joins that keep rows of the left side once: their rows cannot be repeated.
_KEEPING = ("LEFT", "SEMI", "ANTI")


@dataclass(frozen=True, slots=True)
class JoinNearness:
    """A nearness between a part of what is left of ``join`` and what is right of it."""

    join: Join
    near: Call
    left: Relation
    left_position: tuple[Expr, Expr]
    right_position: tuple[Expr, Expr]
    radius: Expr

    @property
    def bounds(self) -> RadiusBounds | None:
        """Of a radius that depends on rows; None if they are unknown."""
        return bound_radius(self.radius, relation_numbers(self.join.left), relation_numbers(self.join.right))


def plan_cross_matches(select: Select, fresh: NameGenerator) -> Select:
    """The pass for one SELECT."""
    select = replace(select, from_=_smaller_right(select.from_, split_conjuncts(select.where)))
    while (match := _find(select, select.from_)) is not None:
        select = _rewritten(select, match, fresh)
    return select


def _smaller_right(relation: Relation, where: tuple[Expr, ...]) -> Relation:
    """Of two tables that are matched the one known to be smaller on the right, where rows are repeated and hashed."""
    if not isinstance(relation, Join):
        return relation
    if isinstance(relation.left, Join):
        return replace(relation, left=_smaller_right(relation.left, where))
    left, right = find_row_count(relation.left), find_row_count(relation.right)
    if relation.kind != "INNER" or left is None or right is None or left >= right:
        return relation
    if not find_join_nearnesses(relation, [*split_conjuncts(relation.condition), *where]):
        return relation
    return replace(relation, left=relation.right, right=relation.left)


# --- which joins ------------------------------------------------------------------------------------------------------


def _find(select: Select, relation: Relation) -> JoinNearness | None:
    """The innermost join that can be made a cube join and is none yet."""
    if not isinstance(relation, Join):
        return None
    below = _find(select, relation.left)
    if below is not None or relation.kind == "FULL":
        return below
    conditions = list(split_conjuncts(relation.condition))
    if relation.kind == "INNER":
        conditions += split_conjuncts(select.where)
    if any(is_join_equality(c, relation) for c in conditions):
        return None
    return next((m for m in find_join_nearnesses(relation, conditions) if _is_planned(m)), None)


def find_join_nearnesses(join: Join, conditions: list[Expr]) -> list[JoinNearness]:
    """The nearnesses of both sides among ANDed ``conditions``, those of constant radius first."""
    found = [match for condition in conditions if (match := _match(join, condition)) is not None]
    return sorted(found, key=lambda match: evaluate_constant(match.radius) is None)


def _match(join: Join, condition: Expr) -> JoinNearness | None:
    if not (isinstance(condition, Call) and condition.name in NEARNESS):
        return None
    first, second = condition.args[0:2], condition.args[2:4]
    for left, right in ((first, second), (second, first)):
        part = _part_of(join.left, left)
        if part is not None and _part_of(join.right, right) is not None:
            return JoinNearness(join, condition, part, (left[0], left[1]), (right[0], right[1]), condition.args[4])
    return None


def _part_of(tree: Relation, position: tuple[Expr, ...]) -> Relation | None:
    """The part of ``tree`` in which a position is known: one table for columns of it, else all."""
    used = {c.relation for expr in position for c in walk_columns(expr)}
    if not used or not used <= relation_numbers(tree):
        return None
    if len(used) == 1 and all(isinstance(expr, Column) or evaluate_constant(expr) is not None for expr in position):
        return next(leaf for leaf in walk_leaves(tree) if leaf.relation in used)
    return tree  # an outer join may have put NULLs into what the expressions are made of


def _is_planned(match: JoinNearness) -> bool:
    if evaluate_constant(match.radius) is not None:
        return True
    limits = match.bounds
    return limits is not None and (match.join.kind == "INNER" or limits.right is None)


# --- the rewriting ----------------------------------------------------------------------------------------------------


def _rewritten(select: Select, match: JoinNearness, fresh: NameGenerator) -> Select:
    join = match.join
    # those of a row-dependent radius may need more than the one table that the position is of
    part = match.left if evaluate_constant(match.radius) is not None else _whole(match)
    left, right = DerivedBuilder(part, select, fresh), DerivedBuilder(join.right, select, fresh)
    cells, of_left, of_right = _cells(match, left, right, fresh)
    vectors = [
        w.export_expr(Call(DOUBLE, axis, p))
        for w, p in ((left, match.left_position), (right, match.right_position))
        for axis in _AXES
    ]
    own, others = _split(select, join)
    inner = [Call(BOOLEAN, "IS POSITION", match.right_position), *of_right, *own]
    condition = combine_conjuncts([*cells, *others])
    inside = left.build_derived(of_left)
    if isinstance(part, Join):  # which the passes after this one do not meet any more
        inside = replace(inside, query=unify_zeros(finish_joins(inside.query, fresh), fresh))
    joined = replace(
        join, left=replace_relation(join.left, part, inside), right=right.build_derived(inner), condition=condition
    )
    select = replace(select, from_=replace_relation(select.from_, join, joined), where=_without(select, join, own))
    select = right.rename_select(left.rename_select(select))
    near = right.rename_expr(left.rename_expr(match.near))
    return _with_vectors(select, near, vectors)


def _whole(match: JoinNearness) -> Relation:
    """The one table that position and radius are of, or all that is left of the join."""
    used = {c.relation for c in walk_columns(match.radius)} & relation_numbers(match.join.left)
    return match.left if used <= relation_numbers(match.left) else match.join.left


Conditions = list[Expr]


def _cells(
    match: JoinNearness, left: DerivedBuilder, right: DerivedBuilder, fresh: NameGenerator
) -> tuple[Conditions, Conditions, Conditions]:
    """The conditions of the join, and those on each side before its rows are repeated."""
    radius = evaluate_constant(match.radius)
    if radius is None:
        return _levelled(match, left, right, fresh)
    reach = 2 * math.sin(math.radians(max(0.0, min(radius, 180.0))) / 2)
    side = max(reach * choose_cube_side(radius, find_crowding(left.relation)), SMALLEST_CUBE)
    cube = left.export_expr(Call(LONG, "CUBE", (*match.left_position, _double(side))))
    cubes = right.export_expr(Call(LONG, "CUBES", (*match.right_position, _double(side), _double(reach))))
    return [Call(BOOLEAN, "=", (cube, cubes))], [], []


def _levelled(
    match: JoinNearness, left: DerivedBuilder, right: DerivedBuilder, fresh: NameGenerator
) -> tuple[Conditions, Conditions, Conditions]:
    limits = match.bounds
    assert limits is not None  # noqa: S101  the match was found planned
    lefts, rights = (left, match.left_position), (right, match.right_position)
    if limits.left is not None and limits.right is not None:
        return _of_both(match, limits.left, limits.right, left, right, fresh)
    if limits.right is not None:
        equal, bounded = _of_one(rights, limits.right, lefts, fresh)
        return [equal], [], [bounded]
    assert limits.left is not None  # noqa: S101  the radius is no constant
    if match.join.kind == "INNER":
        equal, bounded = _of_one(lefts, limits.left, rights, fresh)
        return [equal], [bounded], []
    level = Call(LONG, "LEVEL", (limits.left,))
    each = Call(LONG, "EACH LEVEL", (_levels([(left, limits.left)], fresh),))
    cube = left.export_expr(Call(LONG, "CUBE OF LEVEL", (*match.left_position, level)))
    cubes = right.export_expr(Call(LONG, "CUBES OF LEVEL", (*match.right_position, each)))
    return [Call(BOOLEAN, "=", (cube, cubes))], [], []


Side = tuple[DerivedBuilder, tuple[Expr, Expr]]


def _of_one(bearing: Side, radius: Expr, other: Side, fresh: NameGenerator) -> tuple[Expr, Expr]:
    """One side knows the radius: it has the cubes of its level, the other side's rows their cube of each level."""
    side, position = bearing
    cubes = side.export_expr(Call(LONG, "CUBES OF LEVEL", (*position, Call(LONG, "LEVEL", (radius,)), radius)))
    each = Call(LONG, "EACH LEVEL", (_levels([(side, radius)], fresh),))
    cube = other[0].export_expr(Call(LONG, "CUBE OF LEVEL", (*other[1], each)))
    return Call(BOOLEAN, "=", (cube, cubes)), _is_radius(radius)


def _of_both(
    match: JoinNearness,
    of_left: Expr,
    of_right: Expr,
    left: DerivedBuilder,
    right: DerivedBuilder,
    fresh: NameGenerator,
) -> tuple[Conditions, Conditions, Conditions]:
    """The radius is at most twice the greater bound: a pair meets at that one's level, and at higher ones not again."""
    twice = [Call(DOUBLE, "*", (Call(DOUBLE, "AT LEAST 0", (bound,)), _double(2.0))) for bound in (of_left, of_right)]
    levels = _levels([(left, twice[0]), (right, twice[1])], fresh)
    lowest = [Call(LONG, "LEVEL", (bound,)) for bound in twice]
    each = [Call(LONG, "EACH LEVEL", (levels, level)) for level in lowest]
    cube = left.export_expr(Call(LONG, "CUBE OF LEVEL", (*match.left_position, each[0])))
    cubes = right.export_expr(Call(LONG, "CUBES OF LEVEL", (*match.right_position, each[1])))
    met, own = left.export_expr(each[0]), (left.export_expr(lowest[0]), right.export_expr(lowest[1]))
    once = Call(BOOLEAN, "OR", tuple(Call(BOOLEAN, "=", (met, level)) for level in own))
    return [Call(BOOLEAN, "=", (cube, cubes)), once], [_is_radius(twice[0])], [_is_radius(twice[1])]


def _is_radius(radius: Expr) -> Expr:
    """Neither NULL nor NaN nor negative."""
    return Call(BOOLEAN, ">=", (radius, _double(0.0)))


def _levels(radii: list[tuple[DerivedBuilder, Expr]], fresh: NameGenerator) -> Expr:
    """The levels that there are; all that can be where a table might answer differently when it is asked again."""
    subqueries = []
    for wrapped, radius in radii:
        used = {c.relation for c in walk_columns(radius)}
        leaf = next((leaf for leaf in walk_leaves(wrapped.relation) if used == {leaf.relation}), None)
        if leaf is None or not is_repeatable(leaf):
            return Call(UNTYPED, "LEVELS", ())
        subqueries.append(
            Subquery(LONG, replace(make_select(leaf, [Call(LONG, "LEVEL", (radius,))], fresh), distinct=True))
        )
    return Call(UNTYPED, "LEVELS", tuple(subqueries))


def _split(select: Select, join: Join) -> tuple[list[Expr], list[Expr]]:
    """Conditions on the right table alone, which are tested before its rows are repeated, and the join's other ones."""
    alone = {leaf.relation for leaf in walk_leaves(join.right)}
    pool = list(split_conjuncts(join.condition))
    own = [c for c in pool if {x.relation for x in walk_columns(c)} == alone]
    others = [c for c in pool if c not in own]
    if join.kind == "INNER":
        own += [c for c in split_conjuncts(select.where) if {x.relation for x in walk_columns(c)} == alone]
    return own, others


def _without(select: Select, join: Join, own: list[Expr]) -> Expr | None:
    if join.kind != "INNER":
        return select.where
    return combine_conjuncts([c for c in split_conjuncts(select.where) if c not in own])


def _with_vectors(select: Select, near: Expr, vectors: list[Column]) -> Select:
    """The nearness, where it stands as a conjunct, and the separation of the same positions, of the vectors."""
    assert isinstance(near, Call)  # noqa: S101  it was one before its columns were renamed
    positions = near.args[:4]
    exact = Call(BOOLEAN, "VECTORS " + near.name, (*vectors, near.args[4]), span=near.span)

    def conditions(condition: Expr | None) -> Expr | None:
        return combine_conjuncts([exact if c == near else c for c in split_conjuncts(condition)])

    def tree(relation: Relation) -> Relation:
        if not isinstance(relation, Join):
            return relation
        return replace(
            relation, left=tree(relation.left), right=tree(relation.right), condition=conditions(relation.condition)
        )

    select = replace(select, from_=tree(select.from_), where=conditions(select.where))
    return reuse_separation(select, positions, Call(DOUBLE, "VECTORS APART", tuple(vectors)))


def reuse_separation(select: Select, positions: tuple[Expr, ...], distance: Expr) -> Select:
    """``select`` with DISTANCE of the ``positions`` (lon, lat, lon, lat) taken from what is computed already."""
    if {c for p in positions for c in walk_columns(p)} <= {*select.group_by}:
        return select  # what is made of grouped columns may be selected, other columns not
    same = {positions, positions[2:] + positions[:2]}

    def change(expr: Expr) -> Expr:
        return distance if isinstance(expr, Call) and expr.name == "DISTANCE" and expr.args in same else expr

    return map_select(select, lambda expr: transform_expr(expr, change))


def _double(value: float) -> Literal:
    return Literal(DOUBLE, value)
