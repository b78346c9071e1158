"""The work of a query's joins and of what is done with their rows, foreseen from where the rows of its tables are.

Of a query after the passes, so that what is counted is what the engine does: cross-matches are joins on cubes of the
sky, EXISTS is a join that keeps rows. What is not known is bounded: a condition takes away nothing, an equality that is
no table's id gives as many rows as the larger side has ('at least': nobody has counted its values).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from adql.ir import (
    Aggregate,
    Call,
    Column,
    Derived,
    Exists,
    Expr,
    InCells,
    InSubquery,
    Join,
    Literal,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    Subquery,
    Windowed,
    evaluate_constant,
    has_window,
    split_conjuncts,
    walk_columns,
    walk_expr,
    walk_leaves,
    walk_select_expressions,
)
from adql.query_analysis import MIN_CUBE_SIDE, is_join_equality
from adql.regions import Moc
from clickhouse_schema.catalogue import TableEntry
from tap_service.services.queries.column_origins import ColumnOrigins, MeanRadius, count_named_ids
from tap_service.services.queries.row_density import (
    MAX_ROWS,
    RowDensity,
    area_to_radius,
    compute_cap_area,
    estimate_pairs,
    place_pairs,
)

# Seconds, measured with chDB 4.4 on two cores of a shared machine, from the processor time of queries of the demo's
# tables. They are for telling seconds from minutes and hours.

#: a pair of rows of the same cube, whose separation is computed from unit vectors: 35 ns of one core
_CANDIDATE_SECONDS = 2.0e-8
#: a pair of rows in a product, with nothing or a comparison to compute: 2 ns to 5 ns of one core
_PAIR_SECONDS = 2.5e-9
#: a copy of a row of the side of a cross-match that is in several cubes, put into a hash table: 60 ns of one core
_COPY_SECONDS = 4e-8
#: one whose condition has trigonometry in it: 95 ns of one core
_MEASURED_PAIR_SECONDS = 5e-8
#: a row that a join gives to the next step: 70 ns of one core with three columns
_ROW_SECONDS = 3.5e-8
#: one that is sorted, or put into one of many groups: 200 ns to 400 ns of one core
_ORDERED_ROW_SECONDS = 1.5e-7
#: a value of the result, written as VOTable by one thread: 20 ns to 50 ns
_VALUE_SECONDS = 4e-8

#: The part of rows that an unknown condition is taken to let pass where a row limit ends the query (as for equalities
#: in Selinger et al. 1979, Access path selection in a relational database management system).
_PASSES = 0.1

#: Rows in cubes that touch a row's box are those within a square, in a plane along the cubes: of the cube's side and
#: twice the radius. In other planes there are this much more, as measured.
_OBLIQUE = 1.15
#: Sides of cubes for radii that depend on rows, in radii: from 2 to 8 (``adql.clickhouse.sky.cube_sql.cube_level_sql``)
_LEVEL_SIDE = 4.0

_GEOMETRIC = frozenset(("NEAR", "NEARER", "DISTANCE", "VECTORS NEAR", "VECTORS NEARER", "VECTORS APART"))


@dataclass(frozen=True, slots=True)
class RowEstimate:
    """``sure``: so many, but for chance; else they are bounded, or nobody knows."""

    spread: RowDensity
    sure: bool = True

    @property
    def total(self) -> float:
        return self.spread.total

    def at_most(self, rows: float, *, sure: bool = False) -> RowEstimate:
        return RowEstimate(self.spread.scale_to(min(rows, self.total)), sure and self.sure)


@dataclass(frozen=True, slots=True)
class JoinWork:
    """``found``: pairs that joins find by their keys, as the engine counts them; ``rows``: of the result.

    ``whole``: those that it has without the query's limit, if so many are sure.
    """

    found: float
    seconds: float
    rows: float
    whole: float | None
    sure: bool


@dataclass(frozen=True, slots=True)
class _Work:
    """Pairs, and seconds that go with their number."""

    found: float = 0.0
    seconds: float = 0.0

    def plus(self, found: float, seconds: float) -> _Work:
        return _Work(min(self.found + found, MAX_ROWS), min(self.seconds + seconds, MAX_ROWS))


def estimate_write_seconds(rows: float, columns: int) -> float:
    """To write so many rows of a result."""
    return rows * columns * _VALUE_SECONDS


def estimate_join_work(query: Query, rows_of: Callable[[TableEntry], RowDensity], mean_radius: MeanRadius) -> JoinWork:
    """Of a query after the passes; ``rows_of``: those of a whole table."""
    counter = _Counter(query, rows_of, mean_radius)
    rows = counter.count(query)
    seconds = counter.work.seconds + counter.building
    whole = counter.whole.total if counter.whole is not None and counter.whole.sure else None
    return JoinWork(counter.work.found, seconds, rows.total, whole, rows.sure and counter.sure)


class _Counter:
    def __init__(self, query: Query, rows_of: Callable[[TableEntry], RowDensity], mean_radius: MeanRadius) -> None:
        self.work = _Work()
        #: seconds that no row limit spares
        self.building = 0.0
        #: whether so many pairs are found
        self.sure = True
        #: the rows without the outermost limit
        self.whole: RowEstimate | None = None
        self._rows_of = rows_of
        self._mean_radius = mean_radius
        self._origins = ColumnOrigins()
        self._leaves: dict[int, RowEstimate] = {}
        self._outermost: Query = query

    def count(self, query: Query) -> RowEstimate:
        """The rows that it gives; its work is added to all."""
        if isinstance(query, SetOperation):
            left, right = self.count(query.left), self.count(query.right)
            total = left.total + right.total if query.op == "UNION" else left.total
            sure = query.op == "UNION" and query.all and left.sure and right.sure
            return _limited(RowEstimate(left.spread.scale_to(total), sure), query)
        return self._select(query)

    def _select(self, select: Select) -> RowEstimate:
        for leaf in walk_leaves(select.from_):
            self._leaves[leaf.relation] = self._leaf(select, leaf)
        for expr in walk_select_expressions(select):
            for part in walk_expr(expr):
                if isinstance(part, (Subquery, InSubquery, Exists)):
                    self.count(part.query)
        where = split_conjuncts(select.where)
        before, self.work = self.work, _Work()
        rows = self._filtered(self._joined(select.from_, where), select, where)
        own = self.work
        self.work = before
        given = _grouped(rows, select)
        if select is self._outermost:
            self.whole = given
        if isinstance(select.from_, Join):
            own = own.plus(0.0, rows.total * _seconds_of_a_row(select))
            done = _part_done(rows, select) if select is self._outermost else 1.0
            self.work = self.work.plus(own.found * done, own.seconds * done)
        return _limited(given, select)

    def _leaf(self, select: Select, leaf: Scan | Derived) -> RowEstimate:
        rows = RowEstimate(self._rows_of(leaf.entry)) if isinstance(leaf, Scan) else self.count(leaf.query)
        self._origins.add(leaf)
        spread = rows.spread
        is_id = self._origins.is_id_column
        if named := count_named_ids(select, lambda column: column.relation == leaf.relation and is_id(column)):
            spread = RowDensity.unplaced(min(named, rows.total), spread.tables)
        for cells, inside in _cells_of(leaf.relation, select):
            spread = spread.confine_to(cells, inside)
        return RowEstimate(spread, rows.sure)

    # Joins

    def _joined(self, relation: Relation, where: tuple[Expr, ...]) -> RowEstimate:
        if not isinstance(relation, Join):
            return self._leaves[relation.relation]
        left, right = self._joined(relation.left, where), self._joined(relation.right, where)
        self.sure = self.sure and left.sure and right.sure
        conditions = [*split_conjuncts(relation.condition), *(where if relation.kind == "INNER" else ())]
        keys = [c for c in conditions if is_join_equality(c, relation) and not _is_disguised(c)]
        near = next((c for c in conditions if isinstance(c, Call) and _is_near(c) and _ties(c, relation)), None)
        if near is not None and any(self._origins.is_cubes(key) for key in keys):
            found = self._matched(left, right, near, keys)
        elif keys:
            found = self._equal(left, right, relation, keys)
        else:
            found = self._product(left, right, relation)
        if relation.kind in ("LEFT", "FULL"):
            self._add(left.total, 0.0)  # those without a match are counted too
        return _kept(relation.kind, left, right, found)

    def _matched(self, left: RowEstimate, right: RowEstimate, near: Call, keys: Iterable[Expr]) -> RowEstimate:
        radius = self._origins.radius(near.args[-1], self._mean_radius)
        if radius is None:
            self.sure = False
            return RowEstimate(left.spread.scale_to(max(left.total, right.total)), sure=False)
        a, b = left.spread, right.spread
        pairs = estimate_pairs(a, b, radius)
        chord = 2 * math.sqrt(compute_cap_area(radius))
        sides = (self._origins.side(key) for key in keys)
        side = next((known for known in sides if known is not None), max(_LEVEL_SIDE * chord, MIN_CUBE_SIDE))
        reached = area_to_radius(_OBLIQUE * (side + 2 * chord) ** 2 / (4 * math.pi))
        self._add(candidates := estimate_pairs(a, b, reached), candidates * _CANDIDATE_SECONDS)
        self.building += right.total * (1 + 2 * chord / side) ** 3 * _COPY_SECONDS
        if a.anywhere or b.anywhere:
            self.sure = False
        return RowEstimate(place_pairs(a, b, radius, pairs), left.sure and right.sure and self.sure)

    def _equal(self, left: RowEstimate, right: RowEstimate, join: Join, keys: list[Expr]) -> RowEstimate:
        found = max(left.total, right.total)
        sides = [(left, join.left), (right, join.right)]
        unique = [self._origins.names_rows(side, keys) for _, side in sides]
        if any(unique):  # each row of the other side meets one row at most
            found = min(other.total for (other, _), one in zip(reversed(sides), unique, strict=True) if one)
        self._add(found, found * _PAIR_SECONDS)
        self.sure = False
        larger = left if left.total >= right.total else right
        return RowEstimate(larger.spread.scale_to(found), sure=False)

    def _product(self, left: RowEstimate, right: RowEstimate, join: Join) -> RowEstimate:
        pairs = left.total * right.total
        parts = [part for c in split_conjuncts(join.condition) for part in walk_expr(c)]
        measured = any(isinstance(part, Call) and part.name in _GEOMETRIC for part in parts)
        self._add(pairs, pairs * (_MEASURED_PAIR_SECONDS if measured else _PAIR_SECONDS))
        others = [c for c in split_conjuncts(join.condition) if not _is_disguised(c)]
        larger = left if left.spread.rows.any() else right
        return RowEstimate(larger.spread.scale_to(pairs), left.sure and right.sure and not others)

    def _add(self, found: float, seconds: float) -> None:
        self.work = self.work.plus(found, seconds)

    # Conditions

    def _filtered(self, rows: RowEstimate, select: Select, where: tuple[Expr, ...]) -> RowEstimate:
        for condition in (*where, *_inner_conditions(select.from_)):
            if (most := self._ranked(condition)) is not None:
                rows = rows.at_most(most, sure=True)
            elif isinstance(condition, Call) and condition.name == "SAMPLED":
                rows = rows.at_most(rows.total * (evaluate_constant(condition.args[0]) or 100.0) / 100, sure=True)
            elif not self._is_counted(condition):
                rows = RowEstimate(rows.spread, sure=False)
                if len({column.relation for column in walk_columns(condition)}) < 2:
                    self.sure = False  # it is tried before the join
        return rows

    def _is_counted(self, condition: Expr) -> bool:
        """Whether the rows that it leaves have been counted: a region, or the key or nearness of a match."""
        if isinstance(condition, InCells):
            return True
        if isinstance(condition, Call) and condition.name == "OR":
            return isinstance(condition.args[0], InCells) or self._is_of_levels(condition)
        if not isinstance(condition, Call):
            return False
        if condition.name == "=" and all(isinstance(arg, Literal) for arg in condition.args):
            return condition.args[0] == condition.args[1]  # from the plan for a cluster
        if condition.name == "IN" and self._origins.is_shard(condition.args[0]):
            return True  # of the cells
        if _is_near(condition) or condition.name == "IS POSITION" or _is_disguised(condition):
            return True
        return self._origins.is_cubes(condition) or self._is_radius(condition)

    def _is_of_levels(self, condition: Call) -> bool:
        return any(_names(self._origins.resolved(c)) & {"EACH LEVEL", "LEVEL"} for c in condition.args)

    def _is_radius(self, condition: Call) -> bool:
        """``radius >= 0.0``, from ``crossmatch``: negative radii are counted as none."""
        return condition.name == ">=" and evaluate_constant(condition.args[1]) == 0.0

    def _ranked(self, condition: Expr) -> float | None:
        """The rows that the n best of each row are, at most; None if the condition is no such choice."""
        if not (isinstance(condition, Call) and condition.name == "<=" and isinstance(condition.args[0], Column)):
            return None
        rank, most = self._origins.origin(condition.args[0]), condition.args[1]
        if not (isinstance(rank, Windowed) and rank.name == "ROW_NUMBER" and len(rank.partition_by) == 1):
            return None
        way = [part.relation for part in self._origins.way(rank.partition_by[0]) if isinstance(part, Column)]
        rows = [self._leaves[relation].total for relation in way if relation in self._leaves]
        return float(most.value or 0) * min(rows) if rows and isinstance(most, Literal) else None


def _kept(kind: str, left: RowEstimate, right: RowEstimate, found: RowEstimate) -> RowEstimate:
    """The rows of a join that finds so many pairs."""
    match kind:
        case "SEMI":
            return left.at_most(found.total)
        case "ANTI":
            return left.at_most(left.total)
        case "LEFT" if found.total < left.total:
            return RowEstimate(left.spread, found.sure)
        case "FULL" if found.total < left.total + right.total:
            return RowEstimate(left.spread.scale_to(left.total + right.total), sure=False)
    return found


def _grouped(rows: RowEstimate, select: Select) -> RowEstimate:
    if select.is_grouped and not select.group_by:
        return RowEstimate(RowDensity.unplaced(1.0), select.having is None)
    return rows.at_most(rows.total) if select.group_by or select.distinct else rows


def _limited(rows: RowEstimate, query: Query) -> RowEstimate:
    if query.limit is None or query.limit >= rows.total:
        return rows
    return rows.at_most(query.limit, sure=True)


def _part_done(rows: RowEstimate, select: Select) -> float:
    """How much of the work is done when the row limit ends it."""
    if select.limit is None or _keeps_rows(select) or not rows.total:
        return 1.0
    return min(1.0, (select.limit + select.offset) / (rows.total * (1.0 if rows.sure else _PASSES)))


def _keeps_rows(select: Select) -> bool:
    """Whether the first row comes out when the last one has been seen."""
    return bool(select.order_by or select.distinct or select.is_grouped or has_window(select))


def _seconds_of_a_row(select: Select) -> float:
    if select.group_by or select.distinct or select.order_by or has_window(select):
        return _ORDERED_ROW_SECONDS
    return 0.0 if select.is_grouped else _ROW_SECONDS


def _cells_of(relation: int, select: Select) -> Iterator[tuple[Moc, Moc | None]]:
    """The cells that WHERE and the ON of inner joins confine a relation to, and those of them inside of the region."""
    conditions = [*split_conjuncts(select.where), *_inner_conditions(select.from_)]
    covers = [c for c in conditions if isinstance(c, InCells)]
    insides = [c.args[0] for c in conditions if isinstance(c, Call) and c.name == "OR"]
    for cover in covers:
        if isinstance(cover.index, Column) and cover.index.relation == relation:
            inside = [c for c in insides if isinstance(c, InCells) and c.index == cover.index]
            yield Moc.from_cells(cover.cells), Moc.from_cells(inside[0].cells) if len(inside) == 1 else None


def _inner_conditions(relation: Relation) -> Iterator[Expr]:
    if isinstance(relation, Join):
        yield from _inner_conditions(relation.left)
        yield from _inner_conditions(relation.right)
        if relation.kind in ("INNER", "SEMI"):
            yield from split_conjuncts(relation.condition)


def _is_near(condition: Expr) -> bool:
    return isinstance(condition, Call) and condition.name in ("VECTORS NEAR", "VECTORS NEARER")


def _ties(condition: Expr, join: Join) -> bool:
    """Whether it is about both sides."""
    right = {leaf.relation for leaf in walk_leaves(join.right)}
    left = {leaf.relation for leaf in walk_leaves(join.left)}
    used = {column.relation for column in walk_columns(condition)}
    return bool(used & left and used & right) and used <= left | right


def _is_disguised(condition: Expr) -> bool:
    """An equality that is always true (``joins.with_equality``)."""
    return "ONE" in _names(condition)


def _names(expr: Expr) -> set[str]:
    return {part.name for part in walk_expr(expr) if isinstance(part, (Call, Aggregate))}
