"""Count the pairs of a cross-match by cells of the sky, if a query needs only their number.

    SELECT a.id, COUNT(*) FROM a JOIN b ON NEAR(a.ra, a.dec, b.ra, b.dec, r) GROUP BY a.id

All rows of b in a cell that is entirely within the radius of a row are its partners. They are counted once for each
cell, and only the rows of cells on the border of the radius are tested. Each row of a meets the cells around its own
cell:

    rows of a     SELECT id, X, Y, Z, ZONE CELL(X, Y, Z, h) AS own FROM a
    cells around  SELECT own, ZONE CELLS NEAR(own, h, reach) AS cell FROM (SELECT DISTINCT own FROM rows of a)
    cells met     SELECT id, X, Y, Z, cell, is_whole FROM rows of a JOIN cells around ON own = own WHERE cell is near
    rows of b     SELECT cell, 0 AS is_whole, X, Y, Z, 1 AS weight FROM b
                  UNION ALL SELECT cell, 1, 0, 0, 0, COUNT(*) FROM b GROUP BY cell

    SELECT id, COUNT OF WEIGHTS(weight) FROM cells met JOIN rows of b ON cell = cell AND is_whole = is_whole
    AND (is_whole = 1 OR VECTORS NEAR(...)) GROUP BY id

On a cluster, each shard counts the pairs of its own rows with its rows and its overlap, and the counts are added.
Matches that reach beyond the overlap are left to ``plan_cross_matches``, which comes after this pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adql.clickhouse.sky.zone_cell_sql import find_cell_radius
from adql.ir import (
    WEIGHED_COUNT,
    Aggregate,
    Call,
    Column,
    Derived,
    Expr,
    Join,
    Literal,
    Query,
    Relation,
    Select,
    SetOperation,
    TranslationContext,
    VectorNearness,
    Windowed,
    evaluate_constant,
    get_operand,
    map_select,
    split_conjuncts,
    transform_expr,
    walk_expr,
    walk_select_expressions,
)
from adql.node_classes import replace
from adql.rewrite.matches.crossmatch import JoinNearness, find_join_nearnesses
from adql.rewrite.matches.match_sizes import choose_zone_height, find_crowding
from adql.rewrite.trees.collocation import has_pairs_on_shards
from adql.rewrite.trees.derived_tables import (
    find_columns_used_outside,
    list_columns,
    make_derived,
    make_select,
    make_union,
    rename_columns,
)
from adql.rewrite.trees.relation_trees import collect_numbers, find_used_relations
from adql.rewrite.trees.repeatable_relations import is_deterministic, is_repeatable
from adql.rewrite.trees.sharded_tables import reads_sharded_tables
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, INT, LONG

#: Maximum radius in degrees; with a larger radius, a row meets most of the sky
_MAX_RADIUS = 30.0

_AXES = ("X", "Y", "Z")
_NO_VECTOR = (Literal(DOUBLE, 0.0),) * 3
_PART, _WHOLE = Literal(INT, 0), Literal(INT, 1)


@dataclass(frozen=True, slots=True)
class _Side:
    """A table of the match, its position and the conditions on only this table."""

    relation: Relation
    position: tuple[Expr, ...]
    conditions: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class _CountedMatch:
    """Rows of ``one`` with the number of rows of ``other`` near each row."""

    one: _Side
    other: _Side
    nearness: JoinNearness
    radius: float
    height: float
    is_on_shards: bool


# --- which matches ----------------------------------------------------------------------------------------------------


def count_matches(select: Select, context: TranslationContext) -> Select:
    """Replace a match of two tables whose pairs are only counted by a match of cells.

    Groups, outputs and HAVING must use columns of only one table, with COUNT(*) as the only set function, and the
    radius must be a constant of up to 30 degrees. Other SELECTs are returned unchanged.
    """
    match = _find_counted_match(select)
    return select if match is None else _plan_match(select, match, context)


def _find_counted_match(select: Select) -> _CountedMatch | None:
    join = select.from_
    if not (isinstance(join, Join) and join.kind == "INNER" and select.is_grouped):
        return None
    if isinstance(join.left, Join) or isinstance(join.right, Join) or not is_repeatable(join):
        return None
    conditions = [*split_conjuncts(join.condition), *split_conjuncts(select.where)]
    left, right = collect_numbers(join.left), collect_numbers(join.right)
    across = [c for c in conditions if find_used_relations(c) & left and find_used_relations(c) & right]
    near = next(iter(find_join_nearnesses(join, across)), None) if len(across) == 1 else None
    if near is None or not all(is_deterministic(part) for c in conditions for part in walk_expr(c)):
        return None
    used = _find_relations_of_groups(select)
    if used is None or (used & left and used & right):
        return None
    sides = [(join.left, near.left_position), (join.right, near.right_position)]
    (one, one_position), (other, other_position) = reversed(sides) if used & right else sides
    radius = evaluate_constant(near.radius)
    if radius is None or not 0 < radius <= _MAX_RADIUS:
        return None
    height = choose_zone_height(radius, find_crowding(other))
    is_on_shards = reads_sharded_tables(join)
    if height is None or (is_on_shards and not has_pairs_on_shards(select, join, one, other)):
        return None
    own = [c for c in conditions if c not in across]
    of_other = [c for c in own if find_used_relations(c) & collect_numbers(other)]
    of_one = [c for c in own if c not in of_other]
    counted = _Side(one, one_position, tuple(of_one)), _Side(other, other_position, tuple(of_other))
    return _CountedMatch(*counted, near, radius, height, is_on_shards)


def _find_relations_of_groups(select: Select) -> set[int] | None:
    """Return the relations that groups and outputs use; None if they need more than COUNT(*) of the pairs."""
    used: set[int] = set()
    for expr in walk_select_expressions(select, has_conditions=False):
        used |= find_used_relations(expr)
        for part in walk_expr(expr):
            is_other_set_function = isinstance(part, Aggregate) and not _is_count(part)
            if is_other_set_function or isinstance(part, Windowed) or not is_deterministic(part):
                return None
    return used


def _is_count(expr: Expr) -> bool:
    return isinstance(expr, Aggregate) and expr.name == "COUNT" and not expr.args


# --- the match of cells -----------------------------------------------------------------------------------------------


def _plan_match(select: Select, match: _CountedMatch, context: TranslationContext) -> Select:
    alone = replace(select, from_=match.one.relation, where=None)
    columns = find_columns_used_outside(match.one.relation, alone)
    met, names = _meet_cells(match, columns, context)
    weighted = _weigh_rows(match, context)
    cell, is_whole, *vector = list_columns(met)[:5]
    other_cell, other_is_whole, *other_vector, weight = list_columns(weighted)
    is_strict = isinstance(match.nearness.condition, Call) and match.nearness.condition.name == "NEARER"
    test = _make_near((*vector, *other_vector), match.nearness.radius, is_strict=is_strict)
    passes = Call(BOOLEAN, "OR", (Call(BOOLEAN, "=", (is_whole, _WHOLE)), test))
    keys = (Call(BOOLEAN, "=", (cell, other_cell)), Call(BOOLEAN, "=", (is_whole, other_is_whole)))
    joined = Join("INNER", met, weighted, Call(BOOLEAN, "AND", (*keys, passes)))
    counted: Relation = joined
    if match.is_on_shards:
        counted, names, weight = _count_on_shards(joined, names, weight, context)
    total = Aggregate(LONG, WEIGHED_COUNT, (weight,))
    select = rename_columns(replace(select, from_=counted, where=None), names)
    return map_select(select, lambda expr: transform_expr(expr, lambda part: total if _is_count(part) else part))


def _count_on_shards(
    joined: Join, names: dict[Column, Column], weight: Column, context: TranslationContext
) -> tuple[Derived, dict[Column, Column], Column]:
    """Return a derived table of counts by all columns, which each shard computes, its columns, and the count."""
    keys = tuple(names.values())
    counts = make_select(joined, [*keys, Aggregate(LONG, WEIGHED_COUNT, (weight,))], context)
    derived = Derived(context.names.new_relation(), replace(counts, group_by=keys))
    *columns, count = list_columns(derived)
    return derived, dict(zip(names, columns, strict=True)), count


def _meet_cells(
    match: _CountedMatch, columns: list[Column], context: TranslationContext
) -> tuple[Derived, dict[Column, Column]]:
    """Return (cell, is whole, x, y, z, columns) for each row and cell that it meets, and old -> new columns."""
    height, cell_radius = Literal(DOUBLE, match.height), find_cell_radius(match.height)
    vectors = _read_vectors(match.one, columns, context)
    x, y, z, *kept = list_columns(vectors)
    own = Call(LONG, "ZONE CELL", (x, y, z, height))
    rows = make_derived(vectors, [own, x, y, z, *kept], context)

    distinct = Derived(context.names.new_relation(), replace(make_select(vectors, [own], context), distinct=True))
    (centre,) = list_columns(distinct)
    reach = match.radius + 2 * cell_radius
    around = make_derived(
        distinct, [centre, Call(LONG, "ZONE CELLS NEAR", (centre, height, Literal(DOUBLE, reach)))], context
    )
    pair = list_columns(around)
    vectors_of_pair = [Call(DOUBLE, f"ZONE CELL {axis}", (cell, height)) for cell in pair for axis in _AXES]
    placed = make_derived(around, [*pair, *vectors_of_pair], context)
    centre_cell, cell, *between_centres = list_columns(placed)
    is_in_reach = _make_near(between_centres, Literal(DOUBLE, reach))
    cells = make_derived(placed, [centre_cell, cell, *between_centres[3:]], context, [is_in_reach])

    own_cell, *row_vector = list_columns(rows)[:4]
    centre_cell, cell, *cell_vector = list_columns(cells)
    between = (*row_vector, *cell_vector)
    is_whole = Call(INT, "0 OR 1", (_make_near(between, Literal(DOUBLE, match.radius - cell_radius)),))
    joined = Join("INNER", rows, cells, Call(BOOLEAN, "=", (own_cell, centre_cell)))
    shown = [cell, is_whole, *row_vector, *list_columns(rows)[4:]]
    is_met = _make_near(between, Literal(DOUBLE, match.radius + cell_radius))
    met = make_derived(joined, shown, context, [is_met])
    return met, dict(zip(columns, list_columns(met)[5:], strict=True))


def _weigh_rows(match: _CountedMatch, context: TranslationContext) -> Derived:
    """Return (cell, is whole, x, y, z, weight) for each row, and for all rows of each cell together."""
    height = Literal(DOUBLE, match.height)
    vectors = _read_vectors(match.other, [], context)
    vector = list_columns(vectors)
    cell = Call(LONG, "ZONE CELL", (*vector, height))
    single = make_select(vectors, [cell, _PART, *vector, Literal(LONG, 1)], context)
    cells = make_derived(vectors, [cell], context)
    (key,) = list_columns(cells)
    whole = replace(
        make_select(cells, [key, _WHOLE, *_NO_VECTOR, Aggregate(LONG, "COUNT", ())], context), group_by=(key,)
    )
    return make_union(single, whole, context)


def _read_vectors(side: _Side, columns: list[Column], context: TranslationContext) -> Derived:
    """Return (x, y, z, columns) of the rows with a position."""
    vector = [Call(DOUBLE, axis, side.position) for axis in _AXES]
    has_position = Call(BOOLEAN, "IS POSITION", side.position)
    return make_derived(side.relation, [*vector, *columns], context, [has_position, *side.conditions])


def _make_near(vectors: Sequence[Expr], radius: Expr, *, is_strict: bool = False) -> Call:
    return Call(BOOLEAN, "VECTORS NEARER" if is_strict else "VECTORS NEAR", (*vectors, radius))


# --- reading a match, for plans and estimates -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CellMatch:
    """A join that ``count_matches`` made.

    Attributes
    ----------
    left, right
        The queries of the rows of its sides.
    nearness
        The test of rows in cells on the border of the radius.
    height
        The height of the zones in degrees.
    """

    left: Query
    right: Query
    nearness: VectorNearness
    height: float

    @property
    def cell_radius(self) -> float:
        """The maximum separation of a row from the centre of its cell, in degrees."""
        return find_cell_radius(self.height)

    @classmethod
    def from_join(cls, join: Relation) -> CellMatch | None:
        """Read the sides and the test from a join; return None if ``count_matches`` did not make it."""
        if not (isinstance(join, Join) and isinstance(join.left, Derived) and isinstance(join.right, Derived)):
            return None
        met, weighted = join.left.query, join.right.query
        if not (isinstance(met, Select) and isinstance(met.from_, Join) and isinstance(met.from_.left, Derived)):
            return None
        rows = met.from_.left.query
        cell = rows.outputs[0].expr
        if not (isinstance(cell, Call) and cell.name == "ZONE CELL" and isinstance(weighted, SetOperation)):
            return None
        calls = (part for c in split_conjuncts(join.condition) for part in walk_expr(c) if isinstance(part, Call))
        test = next(call for call in calls if call.name in ("VECTORS NEAR", "VECTORS NEARER"))
        height = evaluate_constant(get_operand(cell, "height"))
        assert height is not None  # noqa: S101  as the pass writes it
        return cls(rows, weighted.left, VectorNearness.from_call(test), height)
