"""Estimate the work of a query's joins, and of processing their rows, from the density of rows on the sky.

The estimate is made after the passes, so it counts the work of ClickHouse: cross-matches are joins on cubes, EXISTS is
a SEMI JOIN. Unknown numbers are bounded: a condition is assumed to remove no rows, and an equality of columns other
than the id of a table to return as many rows as the larger side has (there may be more, as values are not counted).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce

from adql.ir import (
    SUBQUERIES,
    Call,
    Column,
    Derived,
    Expr,
    InCells,
    Join,
    Literal,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    VectorNearness,
    Windowed,
    evaluate_constant,
    get_operand,
    split_conjuncts,
    walk_columns,
    walk_expr,
    walk_leaves,
    walk_listed_constants,
    walk_select_expressions,
)
from adql.query_analysis import (
    MIN_CUBE_SIDE,
    CellMatch,
    MergedMatch,
    find_border_part,
    is_join_equality,
    is_merged,
    joins_both_sides,
)
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.datatypes import LONG
from clickhouse_schema.healpix import NO_POSITION
from tap_service.services.estimates.column_origins import ColumnOrigins, MeanRadius
from tap_service.services.estimates.planned_conditions import (
    collect_names,
    confine_to_cover,
    find_covers,
    is_always_true_key,
    is_radius_test,
    is_region_test,
    read_vector_nearness,
    walk_inner_conditions,
)
from tap_service.services.estimates.row_density import (
    RowDensity,
    area_to_radius,
    compute_cap_area,
    distribute_pairs,
    estimate_pairs,
)
from tap_service.services.estimates.work_costs import (
    BORDER_ROW_SECONDS,
    CANDIDATE_SECONDS,
    CELL_SECONDS,
    COPY_SECONDS,
    MEASURED_PAIR_SECONDS,
    MERGED_PAIR_SECONDS,
    MERGED_ROW_SECONDS,
    PAIR_SECONDS,
    Work,
    find_row_seconds,
    needs_all_rows,
)

#: the fraction of rows that an unknown condition is assumed to pass if a row limit ends the query (as for equalities in
#: Selinger et al. 1979, Access path selection in a relational database management system)
_PASSING_PART = 0.1

#: the cubes that touch the box of a row contain the rows within a square, whose side is the side of a cube plus twice
#: the radius, in a plane along the cubes; in other planes there are more rows, by this measured factor
_OBLIQUE_FACTOR = 1.15

#: the side of cubes for radii that depend on rows, in radii: from 2 to 8
#: (``cube_level_sql``)
_LEVEL_SIDE = 4.0

#: bytes of a computed value, and of a row's overhead in a hash table, which may be half empty
_VALUE_BYTES = 8.0
_KEPT_ROW_BYTES = 64.0

#: returns the bytes per row of a column of a table
ColumnWidth = Callable[[TableEntry, str], float]

_GEOMETRIC = frozenset(("NEAR", "NEARER", "DISTANCE", "VECTORS NEAR", "VECTORS NEARER", "VECTORS APART"))


@dataclass(frozen=True, slots=True)
class RowEstimate:
    """The estimated rows of a relation.

    Attributes
    ----------
    density : RowDensity
        The density of the rows.
    is_sure : bool
        Whether the number of rows is an expected value; otherwise it is an upper bound or a guess.
    """

    density: RowDensity
    is_sure: bool = True

    @property
    def total(self) -> float:
        """The number of rows."""
        return self.density.total

    def limit_to(self, rows: float, *, is_sure: bool = False) -> RowEstimate:
        """Return at most ``rows`` of these rows."""
        return RowEstimate(self.density.scale_to(min(rows, self.total)), is_sure and self.is_sure)


@dataclass(frozen=True, slots=True)
class JoinWork:
    """The estimated work of a query after reading.

    Attributes
    ----------
    pairs : float
        The pairs that joins find by their keys, as ClickHouse counts them.
    seconds : float
        The duration of the joins and of processing their rows.
    rows : float
        The rows of the result.
    unlimited_rows : float or None
        The rows that the result would have without the query's row limit; None if their number is uncertain.
    is_sure : bool
        Whether rows and pairs are expected values; otherwise they are upper bounds or guesses.
    kept : RowDensity
        The bytes of the rows that cross-matches keep in memory, by the cells of these rows.
    """

    pairs: float
    seconds: float
    rows: float
    unlimited_rows: float | None
    is_sure: bool
    kept: RowDensity


def estimate_join_work(
    query: Query,
    find_density: Callable[[TableEntry], RowDensity],
    find_width: ColumnWidth,
    find_mean_radius: MeanRadius,
) -> JoinWork:
    """Estimate the work of a query after the passes.

    Parameters
    ----------
    query : Query
        The query from which the SQL is emitted.
    find_density : Callable[[TableEntry], RowDensity]
        Returns the density of all rows of a table.
    find_width : ColumnWidth
        Returns the bytes per row of a column.
    find_mean_radius : MeanRadius
        Returns the mean of a radius that depends on the rows of a table.
    """
    counter = _WorkCounter(query, find_density, find_width, find_mean_radius)
    rows = counter.count_query(query)
    seconds = counter.work.seconds + counter.building_seconds
    unlimited = counter.unlimited
    unlimited_rows = unlimited.total if unlimited is not None and unlimited.is_sure else None
    is_sure = rows.is_sure and counter.is_sure
    kept = reduce(RowDensity.add_rows, counter.kept) if counter.kept else RowDensity.make_unlocated(0.0)
    return JoinWork(counter.work.pairs, seconds, rows.total, unlimited_rows, is_sure, kept)


class _WorkCounter:
    """Sums the work of a query, from the innermost SELECT outwards.

    ``building_seconds`` is the duration that a row limit cannot reduce, ``is_sure`` whether pairs are expected values,
    ``unlimited`` the rows without the outermost limit, and ``kept`` the bytes that cross-matches keep in memory.
    """

    def __init__(
        self,
        query: Query,
        find_density: Callable[[TableEntry], RowDensity],
        find_width: ColumnWidth,
        find_mean_radius: MeanRadius,
    ) -> None:
        self.work = Work()
        self.building_seconds = 0.0
        self.is_sure = True
        self.unlimited: RowEstimate | None = None
        self.kept: list[RowDensity] = []
        self._find_density = find_density
        self._find_width = find_width
        self._find_mean_radius = find_mean_radius
        self._origins = ColumnOrigins()
        self._leaves: dict[int, RowEstimate] = {}
        self._outermost: Query = query

    def count_query(self, query: Query) -> RowEstimate:
        """Return the rows of a query, and add its work to the sums."""
        if isinstance(query, SetOperation):
            left, right = self.count_query(query.left), self.count_query(query.right)
            total = left.total + right.total if query.op == "UNION" else left.total
            is_sure = query.op == "UNION" and query.all and left.is_sure and right.is_sure
            return _apply_limit(RowEstimate(left.density.scale_to(total), is_sure), query)
        return self._count_select(query)

    def _count_select(self, select: Select) -> RowEstimate:
        if (merged := MergedMatch.from_query(select)) is not None:
            return self._count_merged_match(select, merged)
        start = self.work
        is_cell_match = CellMatch.from_join(select.from_) is not None
        if not is_cell_match:
            for leaf in walk_leaves(select.from_):
                self._leaves[leaf.relation] = self._count_leaf(select, leaf)
        for expr in walk_select_expressions(select):
            for part in walk_expr(expr):
                if isinstance(part, SUBQUERIES):
                    self.count_query(part.query)
        where = split_conjuncts(select.where)
        is_of_merge = isinstance(select.from_, Derived) and is_merged(select.from_.query)
        before, self.work = (start, self.work.subtract_work(start)) if is_of_merge else (self.work, Work())
        rows = self._count_tree(select.from_, where)
        if not is_cell_match:  # whose conditions are counted already
            rows = self._apply_conditions(rows, select, where)
        own, self.work = self.work, before
        grouped = _apply_grouping(rows, select)
        if select is self._outermost:
            self.unlimited = grouped
        if isinstance(select.from_, Join) or is_of_merge:
            own = own.add_work(0.0, rows.total * find_row_seconds(select))
            part_done = _find_part_done(rows, select) if select is self._outermost else 1.0
            self.work = self.work.add_work(own.pairs * part_done, own.seconds * part_done)
        return _apply_limit(grouped, select)

    def _count_leaf(self, select: Select, leaf: Scan | Derived) -> RowEstimate:
        rows = RowEstimate(self._find_density(leaf.entry)) if isinstance(leaf, Scan) else self.count_query(leaf.query)
        self._origins.add_leaf(leaf)
        density = rows.density
        ids = next(walk_listed_constants(select.where, leaf.relation, self._origins.is_id_column), ())
        if ids:
            density = RowDensity.make_unlocated(min(len(ids), rows.total), density.tables)
        for cover in find_covers(leaf.relation, select):
            density = confine_to_cover(density, cover)
        return RowEstimate(density, rows.is_sure)

    # --- joins --------------------------------------------------------------------------------------------------------

    def _count_tree(self, relation: Relation, where: tuple[Expr, ...]) -> RowEstimate:
        if not isinstance(relation, Join):
            return self._leaves[relation.relation]
        if (match := CellMatch.from_join(relation)) is not None:
            return self._count_cell_match(relation, match)
        left, right = self._count_tree(relation.left, where), self._count_tree(relation.right, where)
        self.is_sure = self.is_sure and left.is_sure and right.is_sure
        conditions = [*split_conjuncts(relation.condition), *(where if relation.kind == "INNER" else ())]
        keys = [c for c in conditions if is_join_equality(c, relation) and not is_always_true_key(c)]
        tests = (read_vector_nearness(c) for c in conditions if joins_both_sides(c, relation))
        near = next((test for test in tests if test is not None), None)
        if near is not None and any(self._origins.is_cube_key(key) for key in keys):
            found = self._count_cross_match(left, right, relation.right, near, keys)
        elif keys:
            found = self._count_equal(left, right, relation, keys)
        else:
            found = self._count_product(left, right, relation)
        if relation.kind in ("LEFT", "FULL"):
            self._add_work(left.total, 0.0)  # ClickHouse counts rows without a match too
        return _apply_join_kind(relation.kind, left, right, found)

    def _count_cross_match(
        self, left: RowEstimate, right: RowEstimate, kept: Relation, near: VectorNearness, keys: Iterable[Expr]
    ) -> RowEstimate:
        radius = self._origins.find_radius(near.radius, self._find_mean_radius)
        if radius is None:
            self.is_sure = False
            self._keep_rows(right, kept, 1.0)
            return RowEstimate(left.density.scale_to(max(left.total, right.total)), is_sure=False)
        chord = 2 * math.sqrt(compute_cap_area(radius))
        sides = (self._origins.find_cube_side(key) for key in keys)
        side = next((known for known in sides if known is not None), max(_LEVEL_SIDE * chord, MIN_CUBE_SIDE))
        candidate_area = _OBLIQUE_FACTOR * (side + 2 * chord) ** 2 / (4 * math.pi)
        candidates = estimate_pairs(left.density, right.density, area_to_radius(candidate_area))
        self._add_work(candidates, candidates * CANDIDATE_SECONDS)
        copies = (1 + 2 * chord / side) ** 3
        self.building_seconds += right.total * copies * COPY_SECONDS
        self._keep_rows(right, kept, copies)
        if left.density.unlocated or right.density.unlocated:
            self.is_sure = False
        pairs = estimate_pairs(left.density, right.density, radius)
        density = distribute_pairs(left.density, right.density, radius, pairs)
        return RowEstimate(density, left.is_sure and right.is_sure and self.is_sure)

    def _count_merged_match(self, select: Select, match: MergedMatch) -> RowEstimate:
        """Return the pairs of a merge; pairs across borders count with the pairs inside cells."""
        left, right = (self._count_leaf(select, leaf) for leaf in walk_leaves(select.from_))
        self.is_sure = self.is_sure and left.is_sure and right.is_sure
        candidates = estimate_pairs(left.density, right.density, area_to_radius(1 / (12 * 4**match.order)))
        rows = left.total + right.total
        if match.is_border:
            part = find_border_part(match.order, match.radius)
            self._add_work(candidates * part**2, rows * part * BORDER_ROW_SECONDS)
            return RowEstimate(left.density.scale_to(0.0))
        self._add_work(candidates, rows * MERGED_ROW_SECONDS + candidates * MERGED_PAIR_SECONDS)
        pairs = estimate_pairs(left.density, right.density, match.radius)
        return RowEstimate(distribute_pairs(left.density, right.density, match.radius, pairs), self.is_sure)

    def _count_cell_match(self, join: Join, match: CellMatch) -> RowEstimate:
        """Return the rows that the join finds: pairs in cells on the border of the circle, and cells inside it."""
        left, right = self.count_query(match.left), self.count_query(match.right)
        radius = evaluate_constant(match.nearness.radius) or 0.0
        self._keep_rows(right, join.right, 2.0)  # each row and its cell
        cells = left.total * math.pi * (radius / match.height + 1) ** 2
        within, beyond = (
            estimate_pairs(left.density, right.density, max(0.0, radius + sign * match.cell_radius)) for sign in (-1, 1)
        )
        tests = beyond - within
        self._add_work(cells + tests, cells * CELL_SECONDS + tests * CANDIDATE_SECONDS)
        self.is_sure = self.is_sure and left.is_sure and right.is_sure
        return RowEstimate(left.density.scale_to(cells + tests / 2), self.is_sure)

    def _keep_rows(self, rows: RowEstimate, relation: Relation, copies: float) -> None:
        """Add the rows that a join keeps in memory: ``copies`` copies of each row, with all columns."""
        outputs = relation.query.outputs if isinstance(relation, Derived) else ()
        stored = (self._origins.find_stored_column(output.expr) for output in outputs)
        width = sum(_VALUE_BYTES if column is None else self._find_width(*column) for column in stored)
        self.kept.append(rows.density.scale_to(rows.total * copies * (width + _KEPT_ROW_BYTES)))

    def _count_equal(self, left: RowEstimate, right: RowEstimate, join: Join, keys: list[Expr]) -> RowEstimate:
        # if keys are unique on one side, each row of the other side is paired with at most one row
        bounds = [left.total] if self._origins.is_unique_by(join.right, keys) else []
        bounds += [right.total] if self._origins.is_unique_by(join.left, keys) else []
        pairs = min(bounds) if bounds else max(left.total, right.total)
        self._add_work(pairs, pairs * PAIR_SECONDS)
        self.is_sure = False
        larger = left if left.total >= right.total else right
        return RowEstimate(larger.density.scale_to(pairs), is_sure=False)

    def _count_product(self, left: RowEstimate, right: RowEstimate, join: Join) -> RowEstimate:
        pairs = left.total * right.total
        conditions = split_conjuncts(join.condition)
        is_measured = any(collect_names(condition) & _GEOMETRIC for condition in conditions)
        self._add_work(pairs, pairs * (MEASURED_PAIR_SECONDS if is_measured else PAIR_SECONDS))
        is_unconditional = all(is_always_true_key(c) for c in conditions)
        located = left if left.density.rows.any() else right
        return RowEstimate(located.density.scale_to(pairs), left.is_sure and right.is_sure and is_unconditional)

    def _add_work(self, pairs: float, seconds: float) -> None:
        self.work = self.work.add_work(pairs, seconds)

    # --- conditions ---------------------------------------------------------------------------------------------------

    def _apply_conditions(self, rows: RowEstimate, select: Select, where: tuple[Expr, ...]) -> RowEstimate:
        for condition in (*where, *walk_inner_conditions(select.from_)):
            if (limit := self._bound_ranked_rows(condition)) is not None:
                rows = rows.limit_to(limit, is_sure=True)
            elif isinstance(condition, Call) and condition.name == "SAMPLED":
                percent = evaluate_constant(get_operand(condition, "percent")) or 100.0
                rows = rows.limit_to(rows.total * percent / 100, is_sure=True)
            elif not (self._is_counted(condition) or is_region_test(condition, self._origins.is_position)):
                rows = RowEstimate(rows.density, is_sure=False)
                if len({column.relation for column in walk_columns(condition)}) < 2:
                    self.is_sure = False  # tested before the join
        return rows

    def _is_counted(self, condition: Expr) -> bool:
        """Return whether the estimate counts a condition already, as a cover, or as a key or test of a match."""
        if isinstance(condition, InCells):
            return True
        if not isinstance(condition, Call):
            return False
        if condition.name == "OR":
            return isinstance(condition.args[0], InCells) or self._is_level_test(condition)
        if condition.name == "NOT":
            return self._is_level_test(condition)  # an OR that ``enclose_alternatives`` enclosed
        if condition.name == "AT BORDER" or (condition.name == "<" and condition.args[1] == Literal(LONG, NO_POSITION)):
            return True  # a condition of a merge
        if condition.name == "=" and all(isinstance(arg, Literal) for arg in condition.args):
            return condition.args[0] == condition.args[1]  # added for a cluster
        if condition.name == "IN" and self._origins.is_shard_number(condition.args[0]):
            return True  # the shards follow from the cells
        if condition.name == "IS POSITION" or is_always_true_key(condition) or is_radius_test(condition):
            return True
        return read_vector_nearness(condition) is not None or self._origins.is_cube_key(condition)

    def _is_level_test(self, condition: Call) -> bool:
        origins = (self._origins.inline_origins(arg) for arg in condition.args)
        return any(collect_names(origin) & {"EACH LEVEL", "LEVEL"} for origin in origins)

    def _bound_ranked_rows(self, condition: Expr) -> float | None:
        """Return the rows that remain if the condition keeps the n best pairs of each row, None otherwise."""
        if not (isinstance(condition, Call) and condition.name == "<=" and isinstance(condition.args[0], Column)):
            return None
        rank, count = self._origins.find_origin(condition.args[0]), condition.args[1]
        if not (isinstance(rank, Windowed) and rank.name == "ROW_NUMBER" and len(rank.partition_by) == 1):
            return None
        columns = (part for part in self._origins.walk_origins(rank.partition_by[0]) if isinstance(part, Column))
        rows = [self._leaves[column.relation].total for column in columns if column.relation in self._leaves]
        return float(count.value or 0) * min(rows) if rows and isinstance(count, Literal) else None


# --- rows -------------------------------------------------------------------------------------------------------------


def _apply_join_kind(kind: str, left: RowEstimate, right: RowEstimate, found: RowEstimate) -> RowEstimate:
    """Return the rows of a join of this kind, which finds the pairs ``found``."""
    match kind:
        case "SEMI":
            return left.limit_to(found.total)
        case "ANTI":
            return left.limit_to(left.total)
        case "LEFT" if found.total < left.total:
            return RowEstimate(left.density, found.is_sure)
        case "FULL" if found.total < left.total + right.total:
            return RowEstimate(left.density.scale_to(left.total + right.total), is_sure=False)
    return found


def _apply_grouping(rows: RowEstimate, select: Select) -> RowEstimate:
    if select.is_grouped and not select.group_by:
        return RowEstimate(RowDensity.make_unlocated(1.0), select.having is None)
    return rows.limit_to(rows.total) if select.group_by or select.distinct else rows


def _apply_limit(rows: RowEstimate, query: Query) -> RowEstimate:
    if query.limit is None or query.limit >= rows.total:
        return rows
    return rows.limit_to(query.limit, is_sure=True)


def _find_part_done(rows: RowEstimate, select: Select) -> float:
    """Return the fraction of the work that is done until the row limit ends the query."""
    if select.limit is None or needs_all_rows(select) or not rows.total:
        return 1.0
    return min(1.0, (select.limit + select.offset) / (rows.total * (1.0 if rows.is_sure else _PASSING_PART)))
