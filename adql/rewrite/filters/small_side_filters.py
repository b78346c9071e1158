"""Filter a large table of a join by the rows of a small one.

* A small table matched by position filters by the HEALPix cells around its rows. The order of the cells is such that
  neighbours reach farther than the radius, so the cells contain all partners by construction. If each row has its own
  radius, the cells have one of a few orders.
* A small table joined by columns filters by the values of the columns.

    few JOIN large ON NEAR(few, large, r)
    few JOIN large ON NEAR(few, large, r) WHERE CELL(large.ra, large.dec, k) IN (SELECT cells around few, of order k)

The large table is selected by its sort key or projection, and on a cluster fewer of its rows are sent. Each filter
reads the small table again, so that must return the same rows each time. The first rows of an order (TOP) are therefore
also sorted by the columns that joins compare. This pass runs before the inner SELECTs are rewritten;
``add_covers`` writes CELL by the stored index.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial

from adql.ir import (
    Call,
    Column,
    Derived,
    Expr,
    InSubquery,
    Join,
    Literal,
    NamedValues,
    Order,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    TranslationContext,
    combine_conditions,
    has_window,
    split_conjuncts,
    transform_expr,
    walk_columns,
    walk_expr,
    walk_join_conditions,
    walk_leaves,
)
from adql.node_classes import replace
from adql.rewrite.covers.spatial_covers import find_index_column
from adql.rewrite.filters.condition_pushdown import Filter, add_filters, find_origins
from adql.rewrite.filters.match_ties import (
    End,
    KnownEnd,
    Tie,
    find_ties,
    follow_ties,
    read_equality_tie,
    read_nearness_tie,
    read_row_radius_tie,
)
from adql.rewrite.trees.derived_tables import make_select
from adql.rewrite.trees.relation_trees import (
    Leaf,
    collect_leaves,
    find_used_relations,
    has_subquery,
    replace_relation,
)
from adql.rewrite.trees.repeatable_relations import is_deterministic, is_repeatable
from adql.rewrite.trees.rewritten import Rewritten
from clickhouse_schema.adjacent_cells import order_for_radius, reach_of_order
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, INT, LONG

#: Maximum number of rows of a small table; each row is read twice and has nine cells
_MAX_SMALL_ROWS = 20_000

#: Minimum ratio of the rows of the large table to the rows of the small table
_MIN_RATIO = 50

#: Maximum numbers of rows and of ids of a small side for which a table of unknown size counts as large
_MAX_ROWS_WITH_UNKNOWN = 1_000
_MAX_IDS_WITH_UNKNOWN = 100

#: Minimum number of rows per id with which ids select granules: ten granules
_MIN_ROWS_PER_ID = 10 * 8192

#: Orders of cells for radii that depend on rows. They reach 30 arcsec, 8 arcmin, 1.1 and 4.3 degrees; for larger radii
#: the filter is the whole sky.
_ORDERS = (12, 8, 5, 3)

#: Maximum fraction of the sky that the cells may cover
_MAX_SKY = 0.3

KnownFilter = tuple[KnownEnd, Filter]


def filter_by_small_sides(select: Select, context: TranslationContext) -> Rewritten[Select]:
    """Add the filters that the small tables of a join give to its large tables.

    A small table that has the first rows of an order gets further keys, so that each read returns the same rows. The
    finding is true if values of a small table filter a column, because such a filter looks up ids.
    """
    nearnesses, equalities = find_ties(select, read_nearness_tie), find_ties(select, read_equality_tie)
    found: list[KnownFilter] = []
    has_id_look_up = False
    for leaf in [*walk_leaves(select.from_)]:
        rows, steady = _bound_rows(leaf, split_conjuncts(select.where)), _fix_first_rows(leaf, select)
        if rows is None or rows > _MAX_SMALL_ROWS or not (steady is not leaf or is_repeatable(leaf)):
            continue
        small = _SmallSide(select, steady, rows, context)
        cell_filters = [*small.make_cell_filters(nearnesses), *small.make_cell_filters_by_radius()]
        value_filters = [*small.make_value_filters(equalities)]
        has_id_look_up = has_id_look_up or bool(value_filters)
        if filters := [*cell_filters, *value_filters]:
            found += filters
            select = select.with_from(replace_relation(select.from_, leaf, steady))
    for leaf in [*walk_leaves(select.from_)]:
        about = [(known, each) for known, each in found if known.end[0].relation == leaf.relation]
        is_sure = any(known.is_sure for known, _ in about)
        select = add_filters(select, leaf, [each for _, each in about], context, is_sure=is_sure)
    return Rewritten(select, has_id_look_up)


def _fix_first_rows(leaf: Leaf, select: Select) -> Leaf:
    """Return the first rows of an order (TOP) with an order in which each read returns the same values for the joins.

    ORDER BY does not decide among equal rows, so the columns that the joins compare decide.
    """
    if not _is_first_rows(leaf) or not isinstance(leaf, Derived) or not isinstance(leaf.query, Select):
        return leaf
    query = leaf.query
    if not _is_repeatable_before_limit(query):
        return leaf
    names = {
        column.name
        for condition in (*split_conjuncts(select.where), *walk_join_conditions(select.from_))
        for column in walk_columns(condition)
        if column.relation == leaf.relation
    }
    compared = [output.expr for output in query.outputs if output.alias in names and [*walk_columns(output.expr)]]
    order = (*query.order_by, *(Order(expr, descending=False) for expr in compared))
    return replace(leaf, query=replace(query, order_by=order))


def _is_first_rows(leaf: Leaf) -> bool:
    return isinstance(leaf, Derived) and leaf.query.limit is not None and bool(leaf.query.order_by)


def _is_repeatable_before_limit(query: Select) -> bool:
    return is_repeatable(Derived(0, replace(query, limit=None, offset=0)))


# --- sizes ------------------------------------------------------------------------------------------------------------


def _find_own_conditions(select: Select, leaf: Leaf) -> list[Expr]:
    """Return the conditions of WHERE on only one table that have no subquery."""
    return [
        part
        for part in split_conjuncts(select.where)
        if find_used_relations(part) == {leaf.relation} and not has_subquery(part) and is_deterministic(part)
    ]


def _bound_rows(leaf: Relation, conditions: tuple[Expr, ...]) -> int | None:
    """Return an upper bound of the rows of a leaf that satisfy ``conditions``; None if no bound is known."""
    if isinstance(leaf, Scan):
        known = [leaf.entry.rows, *(_count_ids(leaf, condition) for condition in conditions)]
        return min((n for n in known if n is not None), default=None)
    return bound_rows(leaf.query) if isinstance(leaf, Derived) else None


def bound_rows(query: Query) -> int | None:
    """Return an upper bound of the number of rows of a query.

    Parameters
    ----------
    query
        The query.

    Returns
    -------
    int or None
        The bound, by TOP, a single group, listed ids or the rows of its only table; None if no bound is known.
    """
    bounds = (query.limit, _bound_rows_before_limit(query))
    return min((n for n in bounds if n is not None), default=None)


def _bound_rows_before_limit(query: Query) -> int | None:
    if isinstance(query, SetOperation):
        left, right = bound_rows(query.left), bound_rows(query.right)
        return None if left is None or right is None else left + right
    if query.is_grouped and not query.group_by:
        return 1
    return _bound_rows(query.from_, split_conjuncts(query.where))


def _pays_to_read_twice(leaf: Leaf, scan: Scan) -> bool:
    """Return whether reading the first rows of an order again costs less than the filter on ``scan`` saves."""
    if isinstance(leaf, Scan) or leaf.query.limit is None:
        return True  # everything that is read is small
    read = _bound_rows_before_limit(leaf.query)
    return scan.entry.rows is None or (read is not None and read <= scan.entry.rows)


def _count_ids(leaf: Scan, condition: Expr) -> int | None:
    """Return the number of values that a condition on the complete id allows; None for other conditions."""
    ids = leaf.entry.table.layout.id
    named = NamedValues.match(condition)
    if len(ids) != 1 or named is None:
        return None
    is_id = named.column.relation == leaf.relation and named.column.name == ids[0]
    return len(named.values) if is_id and all(isinstance(v, Literal) for v in named.values) else None


def _is_large(scan: Scan, small: int) -> bool:
    rows = scan.entry.rows
    if rows is None:
        return small <= _MAX_ROWS_WITH_UNKNOWN
    return rows >= _MIN_RATIO * max(small, _MAX_ROWS_WITH_UNKNOWN)


def is_selective(scan: Scan, name: str, count: int, others: Collection[str] = ()) -> bool:
    """Return whether a filter by values of a column saves much: granules by an index, or rows sent to one server.

    Parameters
    ----------
    scan
        The table.
    name
        The name of the column.
    count
        The number of values.
    others
        The names of other columns whose values are listed.
    """
    if not scan.entry.table.is_indexed(name, others):
        return scan.entry.is_sharded and _is_large(scan, count)
    rows = scan.entry.rows
    return count <= _MAX_IDS_WITH_UNKNOWN if rows is None else rows >= _MIN_ROWS_PER_ID * count


# --- filters ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _SmallSide:
    """A leaf of the FROM of ``select`` with at most ``rows`` rows."""

    select: Select
    leaf: Leaf
    rows: int
    context: TranslationContext

    def make_cell_filters(self, ties: list[Tie]) -> Iterator[KnownFilter]:
        ends = dict.fromkeys(end for tie in ties for end in tie.ends if end[0].relation == self.leaf.relation)
        for end in ends:
            for known, radius in follow_ties(KnownEnd(end, is_sure=False), ties):
                order = order_for_radius(radius)
                if order is None or 9 * self.rows >= _MAX_SKY * 12 * 4**order:
                    continue
                if self._is_useful_for(known.end):
                    cells = {order: self._select_cells(end, order, [])}
                    yield known, Filter(known.end, partial(_test_cells, cells))

    def make_cell_filters_by_radius(self) -> Iterator[KnownFilter]:
        """Yield filters by cells of the finest order that reaches as far as the radius of each row."""
        for tie in find_ties(self.select, partial(read_row_radius_tie, self.leaf.relation)):
            radius, end = tie.row_radius, tie.ends[0]
            if radius is None or not all(is_deterministic(part) for part in walk_expr(radius)):
                continue
            for known, _ in follow_ties(KnownEnd(end, is_sure=False), [tie]):
                if not self._is_useful_for(known.end):
                    continue
                cells, least = {}, 0.0
                for order in _ORDERS:
                    limit = reach_of_order(order)
                    cells[order] = self._select_cells(end, order, _test_radius(radius, least, limit))
                    least = limit
                cells[0] = self._select_cells(end, 0, _test_radius(radius, least, math.inf))
                yield known, Filter(known.end, partial(_test_cells, cells))

    def _is_useful_for(self, end: End) -> bool:
        """Return whether the position ``end`` is the sort key of a large table."""
        leaf = collect_leaves(self.select.from_)[end[0].relation]
        origins = find_origins(leaf, tuple(column.name for column in end))
        return any(
            scan.entry.table.layout.position == names
            and _is_large(scan, self.rows)
            and _pays_to_read_twice(self.leaf, scan)
            for scan, names in origins
        )

    def _select_cells(self, end: End, order: int, radius_conditions: list[Expr]) -> Select:
        """Return the query of the cells of ``order`` around the rows that satisfy ``radius_conditions``."""
        conditions = [*_find_own_conditions(self.select, self.leaf), *radius_conditions]
        table, flat_conditions, (lon, lat) = _flatten_derived(self.leaf, conditions, end)
        if any(isinstance(part, Call) and part.name.startswith("CAP ") for part in walk_expr(lon)):
            # caps are long expressions; the derived table computes them once per row
            table, flat_conditions, (lon, lat) = self.leaf, conditions, end
        if order == 0:
            return make_select(table, [Call(LONG, "BASE CELLS", ())], self.context, flat_conditions)
        index: Expr = Call(LONG, "HPX29", (lon, lat))
        if isinstance(table, Scan) and isinstance(lon, Column) and isinstance(lat, Column):
            index = find_index_column(table, lon, lat) or index
        cells = Call(LONG, "CELLS AROUND", (index, Literal(INT, order)))
        return make_select(table, [cells], self.context, flat_conditions)

    def make_value_filters(self, ties: list[Tie]) -> Iterator[KnownFilter]:
        compared = [pair for tie in ties for pair in self._find_compared(tie)]
        for value, known in compared:
            [other] = known.end
            if self._is_selective(other, [each.end[0] for _, each in compared]):
                conditions = _find_own_conditions(self.select, self.leaf)
                table, conditions, (flat_value,) = _flatten_derived(self.leaf, conditions, (value,))
                values = make_select(table, [flat_value], self.context, conditions)
                yield known, Filter(known.end, partial(_test_value, values))

    def _find_compared(self, tie: Tie) -> Iterator[tuple[Column, KnownEnd]]:
        """Yield a column of the small side, and the other end with which it is compared."""
        for end in tie.ends:
            if end[0].relation == self.leaf.relation:
                for known, _ in follow_ties(KnownEnd(end, is_sure=False), [tie]):
                    if _is_comparable(end[0], known.end[0]):
                        yield end[0], known

    def _is_selective(self, column: Column, compared: list[Column]) -> bool:
        """Return whether a filter by a column saves much, given the other compared columns."""
        leaf = collect_leaves(self.select.from_)[column.relation]
        fixed = [
            named.column for part in split_conjuncts(self.select.where) if (named := NamedValues.match_constants(part))
        ]
        others = {
            (scan.relation, name)
            for each in (*compared, *fixed)
            if each.relation == column.relation
            for scan, (name,) in find_origins(leaf, (each.name,))
        }
        return any(
            is_selective(scan, name, self.rows, {each for relation, each in others if relation == scan.relation})
            and _pays_to_read_twice(self.leaf, scan)
            for scan, (name,) in find_origins(leaf, (column.name,))
        )


def _test_radius(radius: Expr, least: float, limit: float) -> list[Expr]:
    """Return the conditions that ``radius`` is from ``least`` to below ``limit`` degrees."""
    conditions: list[Expr] = [Call(BOOLEAN, ">=", (radius, Literal(DOUBLE, least)))]
    if math.isfinite(limit):
        conditions.append(Call(BOOLEAN, "<", (radius, Literal(DOUBLE, limit))))
    return conditions


def _test_cells(cells: dict[int, Select], position: tuple[Column, ...]) -> Expr:
    """Return the condition that a position is in one of the cells, given as one query for each order."""
    tests = tuple(
        InSubquery(BOOLEAN, Call(LONG, "CELL", (*position, Literal(INT, order))), query)
        for order, query in cells.items()
    )
    return combine_conditions("OR", tests)


def _test_value(values: Select, columns: tuple[Column, ...]) -> Expr:
    return InSubquery(BOOLEAN, columns[0], values)


def _is_comparable(value: Column, other: Column) -> bool:
    """Return whether IN compares the types as in SQL, which is true for numbers with integers, and for texts."""
    return (value.type.is_numeric and other.type.is_integer) or (value.type.is_text and other.type.is_text)


def _flatten_derived(
    leaf: Leaf, conditions: list[Expr], exprs: tuple[Expr, ...]
) -> tuple[Relation, list[Expr], tuple[Expr, ...]]:
    """Return the FROM of a derived table that only selects, and conditions and ``exprs`` in columns of this FROM."""
    if not isinstance(leaf, Derived) or not isinstance(leaf.query, Select):
        return leaf, conditions, exprs
    query = leaf.query
    if query.is_grouped or query.distinct or has_window(query) or query.limit is not None or query.offset:
        return leaf, conditions, exprs
    inner = {output.alias: output.expr for output in query.outputs}

    def change(expr: Expr) -> Expr:
        return inner[expr.name] if isinstance(expr, Column) and expr.relation == leaf.relation else expr

    conditions = [*split_conjuncts(query.where), *(transform_expr(c, change) for c in conditions)]
    exprs = tuple(transform_expr(e, change) for e in exprs)
    if isinstance(query.from_, Join):
        return query.from_, conditions, exprs
    return _flatten_derived(query.from_, conditions, exprs)
