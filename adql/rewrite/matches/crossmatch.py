"""Plan cross-matches: a join on a bounded separation becomes an equality of cubes, followed by the exact test.

    FROM a JOIN b ON NEAR(a.ra, a.dec, b.ra, b.dec, r)
    FROM (SELECT ..., CUBE(ra, dec, s) AS cube, X, Y, Z FROM a)
    JOIN (SELECT ..., CUBES(ra, dec, s, r) AS cube, X, Y, Z FROM b) ON cube = cube AND VECTORS NEAR(XYZ, XYZ, r)

Unit vectors fall into a grid of cubes of side s. A left row gets the cube that contains it. A right row is repeated for
each cube that the bounding box of its ball of the match radius touches, which is a superset by construction, also at
the poles. Equal cubes give each candidate pair once. The exact test decides, on unit vectors that are computed once per
row.

If the radius depends on rows, there is a grid for each of a few levels of radii (``adql.clickhouse.sky.cube_sql``), and
the number of a cube contains its level (``_plan_levels``), so a few large radii cost only their own pairs.

This pass runs after ``move_keys_to_on``, because a join with an equality needs no cubes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from adql.clickhouse.sky.cube_sql import MIN_CUBE_SIDE
from adql.ir import (
    UNTYPED,
    Call,
    Column,
    Expr,
    Join,
    Literal,
    Nearness,
    Relation,
    Select,
    Subquery,
    TranslationContext,
    combine_conjuncts,
    evaluate_constant,
    map_select,
    split_conjuncts,
    transform_expr,
    walk_columns,
    walk_joins,
    walk_leaves,
)
from adql.node_classes import replace
from adql.rewrite.joins.canonical_reals import canonicalize_keys
from adql.rewrite.joins.join_trees import add_outer_keys
from adql.rewrite.matches.match_sizes import choose_cube_side, find_crowding, find_row_count
from adql.rewrite.matches.radius_bounds import RadiusBounds, bound_radius
from adql.rewrite.trees.derived_tables import DerivedBuilder, make_select
from adql.rewrite.trees.relation_trees import (
    collect_numbers,
    find_used_relations,
    has_join_key,
    map_conditions,
    replace_relation,
)
from adql.rewrite.trees.repeatable_relations import is_repeatable
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, LONG

_AXES = ("X", "Y", "Z")


@dataclass(frozen=True, slots=True)
class JoinNearness:
    """A nearness between ``left``, a part of the left side of ``join``, and its right side."""

    join: Join
    condition: Expr
    left: Relation
    left_position: tuple[Expr, ...]
    right_position: tuple[Expr, ...]
    radius: Expr

    @property
    def bounds(self) -> RadiusBounds | None:
        """The bounds of a radius that depends on rows; None if they are unknown."""
        return bound_radius(self.radius, collect_numbers(self.join.left), collect_numbers(self.join.right))


def plan_cross_matches(select: Select, context: TranslationContext) -> Select:
    """Replace each join that only a nearness restricts by a join on cubes.

    Expects left-deep joins. FULL JOINs, radii without known bounds, and outer joins for a radius of the right side
    stay; ``split_outer_matches`` has replaced most of these.
    """
    select = replace(select, from_=_put_smaller_right(select.from_, split_conjuncts(select.where)))
    while (match := _find_cube_join(select)) is not None:
        select = _plan_match(select, match, context)
    return select


def _put_smaller_right(relation: Relation, where: tuple[Expr, ...]) -> Relation:
    """Swap the first two tables if the left one is smaller, because rows of the right one are repeated and hashed."""
    if not isinstance(relation, Join):
        return relation
    if isinstance(relation.left, Join):
        return replace(relation, left=_put_smaller_right(relation.left, where))
    left, right = find_row_count(relation.left), find_row_count(relation.right)
    if relation.kind != "INNER" or left is None or right is None or left >= right:
        return relation
    if not find_join_nearnesses(relation, [*split_conjuncts(relation.condition), *where]):
        return relation
    return replace(relation, left=relation.right, right=relation.left)


# --- which joins ------------------------------------------------------------------------------------------------------


def _find_cube_join(select: Select) -> JoinNearness | None:
    """Return the innermost join that can become a cube join."""
    for join in walk_joins(select.from_):
        if join.kind == "FULL":
            continue
        conditions = list(split_conjuncts(join.condition))
        if join.kind == "INNER":
            conditions += split_conjuncts(select.where)
        if has_join_key(join, conditions):
            continue
        found = next((match for match in find_join_nearnesses(join, conditions) if _can_plan(match)), None)
        if found is not None:
            return found
    return None


def find_join_nearnesses(join: Join, conditions: list[Expr]) -> list[JoinNearness]:
    """Find the nearnesses between both sides of a join.

    Parameters
    ----------
    join
        The join.
    conditions
        Conjuncts of its condition.

    Returns
    -------
    list[JoinNearness]
        The nearnesses, those with a constant radius first.
    """
    found = [match for condition in conditions if (match := _read_match(join, condition)) is not None]
    return sorted(found, key=lambda match: evaluate_constant(match.radius) is None)


def _read_match(join: Join, condition: Expr) -> JoinNearness | None:
    near = Nearness.match(condition)
    if near is None:
        return None
    for left, right in ((near.left, near.right), (near.right, near.left)):
        part = _find_part_with(join.left, left)
        if part is not None and _find_part_with(join.right, right) is not None:
            return JoinNearness(join, condition, part, left, right, near.radius)
    return None


def _find_part_with(tree: Relation, position: tuple[Expr, ...]) -> Relation | None:
    """Return the part of ``tree`` that has a position: the only table if it has bare columns, else all of ``tree``."""
    used = {number for expr in position for number in find_used_relations(expr)}
    if not used or not used <= collect_numbers(tree):
        return None
    if len(used) == 1 and all(isinstance(expr, Column) or evaluate_constant(expr) is not None for expr in position):
        return next(leaf for leaf in walk_leaves(tree) if leaf.relation in used)
    return tree  # an outer join may have put NULLs into the operands of the expressions


def _can_plan(match: JoinNearness) -> bool:
    if evaluate_constant(match.radius) is not None:
        return True
    bounds = match.bounds
    return bounds is not None and (match.join.kind == "INNER" or bounds.right is None)


# --- the join ---------------------------------------------------------------------------------------------------------


def _plan_match(select: Select, match: JoinNearness, context: TranslationContext) -> Select:
    join = match.join
    part = match.left if evaluate_constant(match.radius) is not None else _find_part_with_radius(match)
    left = _Side(DerivedBuilder(part, select, context), match.left_position)
    right = _Side(DerivedBuilder(join.right, select, context), match.right_position)
    keys = _plan_cubes(match, left, right, context)
    vectors = [side.builder.export_expr(Call(DOUBLE, axis, side.position)) for side in (left, right) for axis in _AXES]

    right_only, others = _split_conditions(select, join)
    inside_left = left.builder.build_derived(keys.left)
    if isinstance(part, Join):  # the passes after this one do not reach its query
        assert isinstance(inside_left.query, Select)  # noqa: S101  as the builder makes it
        keyed = add_outer_keys(inside_left.query, context)
        inside_left = replace(inside_left, query=canonicalize_keys(keyed, context))
    has_position = Call(BOOLEAN, "IS POSITION", match.right_position)
    inside_right = right.builder.build_derived([has_position, *keys.right, *right_only])

    planned = replace(
        join,
        left=replace_relation(join.left, part, inside_left),
        right=inside_right,
        condition=combine_conjuncts([*keys.join, *others]),
    )
    where = select.where
    if join.kind == "INNER":
        where = combine_conjuncts([c for c in split_conjuncts(select.where) if c not in right_only])
    select = replace(select, from_=replace_relation(select.from_, join, planned), where=where)
    select = right.builder.rename_select(left.builder.rename_select(select))
    condition = right.builder.rename_expr(left.builder.rename_expr(match.condition))
    return _test_vectors(select, condition, vectors)


def _find_part_with_radius(match: JoinNearness) -> Relation:
    """Return the left table that has the position and the radius, or else the complete left side."""
    used = find_used_relations(match.radius) & collect_numbers(match.join.left)
    return match.left if used <= collect_numbers(match.left) else match.join.left


def _split_conditions(select: Select, join: Join) -> tuple[list[Expr], list[Expr]]:
    """Return the conditions on only the right table, tested before its rows are repeated, and the others of ON."""
    right = collect_numbers(join.right)
    in_on = split_conjuncts(join.condition)
    right_only = [c for c in in_on if find_used_relations(c) == right]
    others = [c for c in in_on if c not in right_only]
    if join.kind == "INNER":
        right_only += [c for c in split_conjuncts(select.where) if find_used_relations(c) == right]
    return right_only, others


def _test_vectors(select: Select, condition: Expr, vectors: list[Column]) -> Select:
    """Compute the nearness, if it is a conjunct, and the separation of its positions from unit vectors."""
    near = Nearness.match(condition)
    assert isinstance(condition, Call)  # noqa: S101  renamed columns leave it a nearness
    assert near is not None  # noqa: S101
    exact = Call(BOOLEAN, "VECTORS " + condition.name, (*vectors, near.radius), span=condition.span)

    def replace_in(expr: Expr | None) -> Expr | None:
        return combine_conjuncts([exact if c == condition else c for c in split_conjuncts(expr)])

    from_ = map_conditions(select.from_, lambda join: replace_in(join.condition))
    select = replace(select, from_=from_, where=replace_in(select.where))
    apart, haversine = (Call(DOUBLE, f"VECTORS {name}", tuple(vectors)) for name in ("APART", "HAVERSINE"))
    return reuse_separation(select, near, {"DISTANCE": apart, "HAVERSINE": haversine})


def reuse_separation(select: Select, near: Nearness, values: Mapping[str, Expr]) -> Select:
    """Replace computations of the separation of two positions.

    Parameters
    ----------
    select
        The SELECT.
    near
        The nearness of the two positions.
    values
        Name of a call, such as DISTANCE -> the expression that replaces it.

    Returns
    -------
    Select
        The changed SELECT; ``select`` if it has no such calls.
    """
    if {c for expr in (*near.left, *near.right) for c in walk_columns(expr)} <= {*select.group_by}:
        return select  # expressions of grouped columns may be selected, but not other columns
    positions = {(*near.left, *near.right), (*near.right, *near.left)}

    def change(expr: Expr) -> Expr:
        if isinstance(expr, Call) and expr.name in values and expr.args in positions:
            return values[expr.name]
        return expr

    return map_select(select, lambda expr: transform_expr(expr, change))


# --- the cubes --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Side:
    builder: DerivedBuilder
    position: tuple[Expr, ...]

    def export_cubes(self, function: str, *operands: Expr) -> Column:
        """Return a column with the cubes of the position of the side."""
        return self.builder.export_expr(Call(LONG, function, (*self.position, *operands)))


@dataclass(frozen=True, slots=True)
class _CubeKeys:
    """The conditions of a cube join: in its ON, and on each side before rows are repeated."""

    join: list[Expr]
    left: list[Expr]
    right: list[Expr]


def _plan_cubes(match: JoinNearness, left: _Side, right: _Side, context: TranslationContext) -> _CubeKeys:
    radius = evaluate_constant(match.radius)
    if radius is None:
        return _plan_levels(match, left, right, context)
    chord = 2 * math.sin(math.radians(max(0.0, min(radius, 180.0))) / 2)
    cube_side = max(chord * choose_cube_side(radius, find_crowding(left.builder.relation)), MIN_CUBE_SIDE)
    cube = left.export_cubes("CUBE", _make_double(cube_side))
    cubes = right.export_cubes("CUBES", _make_double(cube_side), _make_double(chord))
    return _CubeKeys([_make_equal(cube, cubes)], [], [])


def _plan_levels(match: JoinNearness, left: _Side, right: _Side, context: TranslationContext) -> _CubeKeys:
    """Plan for a radius that depends on rows.

    Rows of the side with the radius get the cubes of their level, rows of the other side their cube of each level. In
    an outer join the left rows must not be repeated, so the right rows get the cubes of each level.
    """
    bounds = match.bounds
    assert bounds is not None  # noqa: S101  _can_plan has checked it
    if bounds.left is not None and bounds.right is not None:
        return _plan_levels_of_both(bounds.left, bounds.right, left, right, context)
    if bounds.right is not None:
        equal = _equate_levels(right, bounds.right, left, context)
        return _CubeKeys([equal], [], [_is_radius(bounds.right)])
    assert bounds.left is not None  # noqa: S101  the radius is not constant
    if match.join.kind == "INNER":
        equal = _equate_levels(left, bounds.left, right, context)
        return _CubeKeys([equal], [_is_radius(bounds.left)], [])
    level = Call(LONG, "LEVEL", (bounds.left,))
    each = Call(LONG, "EACH LEVEL", (_list_levels([(left, bounds.left)], context),))
    cube = left.export_cubes("CUBE OF LEVEL", level)
    cubes = right.export_cubes("CUBES OF LEVEL", each)
    return _CubeKeys([_make_equal(cube, cubes)], [], [])


def _equate_levels(bearing: _Side, radius: Expr, other: _Side, context: TranslationContext) -> Expr:
    """Equate the cubes of the level of ``radius``, which ``bearing`` has, with the cubes of each level on ``other``."""
    cubes = bearing.export_cubes("CUBES OF LEVEL", Call(LONG, "LEVEL", (radius,)), radius)
    each = Call(LONG, "EACH LEVEL", (_list_levels([(bearing, radius)], context),))
    return _make_equal(other.export_cubes("CUBE OF LEVEL", each), cubes)


def _plan_levels_of_both(
    left_bound: Expr, right_bound: Expr, left: _Side, right: _Side, context: TranslationContext
) -> _CubeKeys:
    """Plan for a radius of at most twice the greater bound, at whose level alone a pair meets."""
    double_left, double_right = (
        Call(DOUBLE, "*", (Call(DOUBLE, "AT LEAST 0", (bound,)), _make_double(2.0)))
        for bound in (left_bound, right_bound)
    )
    levels = _list_levels([(left, double_left), (right, double_right)], context)
    left_level, right_level = Call(LONG, "LEVEL", (double_left,)), Call(LONG, "LEVEL", (double_right,))
    each_left, each_right = (Call(LONG, "EACH LEVEL", (levels, level)) for level in (left_level, right_level))
    cube = left.export_cubes("CUBE OF LEVEL", each_left)
    cubes = right.export_cubes("CUBES OF LEVEL", each_right)
    met = left.builder.export_expr(each_left)
    own = left.builder.export_expr(left_level), right.builder.export_expr(right_level)
    is_greater_level = Call(BOOLEAN, "OR", tuple(_make_equal(met, level) for level in own))
    equal = _make_equal(cube, cubes)
    return _CubeKeys([equal, is_greater_level], [_is_radius(double_left)], [_is_radius(double_right)])


def _list_levels(radii: list[tuple[_Side, Expr]], context: TranslationContext) -> Expr:
    """Return the levels that occur, or all levels if a table may return other rows when it is read again."""
    subqueries = []
    for side, radius in radii:
        used = find_used_relations(radius)
        leaf = next((leaf for leaf in walk_leaves(side.builder.relation) if used == {leaf.relation}), None)
        if leaf is None or not is_repeatable(leaf):
            return Call(UNTYPED, "LEVELS", ())
        levels = make_select(leaf, [Call(LONG, "LEVEL", (radius,))], context)
        subqueries.append(Subquery(LONG, replace(levels, distinct=True)))
    return Call(UNTYPED, "LEVELS", tuple(subqueries))


def _is_radius(radius: Expr) -> Expr:
    """Return the condition that ``radius`` is not NULL, NaN or negative."""
    return Call(BOOLEAN, ">=", (radius, _make_double(0.0)))


def _make_equal(left: Expr, right: Expr) -> Expr:
    return Call(BOOLEAN, "=", (left, right))


def _make_double(value: float) -> Literal:
    return Literal(DOUBLE, value)
