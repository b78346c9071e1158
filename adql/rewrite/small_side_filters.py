"""A small table in a join tells the large one where to look.

A table of few rows that is matched by position gives the large table the HEALPix cells around its rows: cells whose
neighbours reach farther than the radius, so they hold every partner by construction. Where each row has its own radius,
it gives cells of one of a few orders. One that is joined by a column gives its values: ids, or what else. They stand as
``IN (SELECT ...)`` beside the large table, whose sort key or projection they select by, or whose rows they keep from
being sent around on a cluster; the small table is read again for each, so it must answer the same each time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from adql.clickhouse.sky.neighbour_cell_sql import farthest, order_for
from adql.ir import (
    Call,
    Column,
    Derived,
    Exists,
    Expr,
    InSubquery,
    Join,
    Literal,
    NameGenerator,
    Output,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    Subquery,
    combine_conjuncts,
    derive_field,
    has_window,
    split_conjuncts,
    transform_expr,
    walk_columns,
    walk_expr,
    walk_leaves,
)
from adql.rewrite.condition_pushdown import Filter, add_filters, find_origins
from adql.rewrite.match_ties import (
    End,
    KnownEnd,
    Tie,
    find_ties,
    follow_ties,
    read_equality,
    read_nearness,
    read_nearness_of_row,
)
from adql.rewrite.repeatable_relations import is_deterministic, is_repeatable
from adql.rewrite.spatial_covers import find_index_column
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, INT, LONG

#: What follows for an end of a match
Given = Iterator[tuple[KnownEnd, Filter]]

#: Rows of a small table, at most: each is read twice, and has nine cells
_SMALL = 20_000

#: How many times as many rows the large one has, at least
_TIMES = 50

#: Rows of a table that nobody counted are many, but only for a table of so few, or of so few ids.
_FEW = 1_000
_FEW_IDS = 100

#: Ids select granules as long as there are ten times as many of these.
_ROWS_OF_AN_ID = 10 * 8192

#: Orders of cells for radii of rows: they reach 30 arcsec, 8 arcmin, 1.1 and 4.3 degrees; beyond, it is the whole sky.
_ORDERS = (12, 8, 5, 3)

#: The part of the sky that cells may cover to be of use
_MOST_SKY = 0.3


def filter_by_small_sides(select: Select, fresh: NameGenerator) -> Select:
    """The pass for one SELECT, before those inside of it."""
    if not isinstance(select.from_, Join):
        return select
    near, equal = find_ties(select, read_nearness), find_ties(select, read_equality)
    given: list[tuple[KnownEnd, Filter]] = []
    for leaf in walk_leaves(select.from_):
        size = _rows(leaf, _own(select, leaf))
        if size is not None and size <= _SMALL and is_repeatable(leaf):
            given += _cells(select, leaf, size, near, fresh)
            given += _cells_of_radii(select, leaf, size, fresh)
            given += _ids(select, leaf, size, equal, fresh)
    for leaf in [*walk_leaves(select.from_)]:
        about = [(known, hint) for known, hint in given if known.end[0].relation == leaf.relation]
        sure = any(known.sure for known, _ in about)
        select = add_filters(select, leaf, [hint for _, hint in about], fresh, sure=sure)
    return select


# --- how large --------------------------------------------------------------------------------------------------------


def _own(select: Select, leaf: Scan | Derived) -> list[Expr]:
    """The conditions of WHERE on one table alone, without subqueries."""
    return [
        part
        for part in split_conjuncts(select.where)
        if {c.relation for c in walk_columns(part)} == {leaf.relation}
        and not any(isinstance(e, (Subquery, InSubquery, Exists)) for e in walk_expr(part))
        and is_deterministic(part)
    ]


def _rows(leaf: Relation, conditions: list[Expr]) -> int | None:
    """At most so many rows; None if that is not known."""
    if isinstance(leaf, Scan):
        known = [leaf.entry.rows, *(_looked_up(leaf, condition) for condition in conditions)]
        return min((n for n in known if n is not None), default=None)
    return _rows_of(leaf.query) if isinstance(leaf, Derived) else None


def _rows_of(query: Query) -> int | None:
    if isinstance(query, SetOperation):
        left, right = _rows_of(query.left), _rows_of(query.right)
        return None if left is None or right is None else left + right
    if query.is_grouped and not query.group_by:
        return 1
    return _rows(query.from_, [*split_conjuncts(query.where)])


def _looked_up(leaf: Scan, condition: Expr) -> int | None:
    """How many rows a condition on the whole id leaves."""
    ids = leaf.entry.table.layout.id
    if len(ids) != 1 or not (isinstance(condition, Call) and condition.name in ("=", "IN")):
        return None
    operand, *values = condition.args
    if isinstance(values[0], Column):
        operand, values = values[0], [operand]
    is_id = isinstance(operand, Column) and operand.name == ids[0]
    return len(values) if is_id and all(isinstance(v, Literal) for v in values) else None


def _is_large(scan: Scan, small: int) -> bool:
    rows = scan.entry.rows
    return small <= _FEW if rows is None else rows >= _TIMES * max(small, _FEW)


def _is_chosen_from(scan: Scan, name: str, small: int) -> bool:
    """Whether as many values of a column spare much: of an index its granules, of others the way to one server."""
    rows = scan.entry.rows
    if not scan.entry.table.is_indexed(name):
        return scan.entry.is_sharded and _is_large(scan, small)
    return small <= _FEW_IDS if rows is None else rows >= _ROWS_OF_AN_ID * small


# --- what it gives ----------------------------------------------------------------------------------------------------


def _cells(select: Select, leaf: Scan | Derived, size: int, near: list[Tie], fresh: NameGenerator) -> Given:
    ends = dict.fromkeys(end for match in near for end in match.ends if end[0].relation == leaf.relation)
    for end in ends:
        for known, radius in follow_ties(KnownEnd(end, sure=False), near):
            order = order_for(radius)
            if order is not None and 9 * size < _MOST_SKY * 12 * 4**order and _is_of_use(select, known.end, size):
                yield known, Filter(known.end, partial(_in_cells, {order: _around(select, leaf, end, order, fresh)}))


def _cells_of_radii(select: Select, leaf: Scan | Derived, size: int, fresh: NameGenerator) -> Given:
    """Each row's cells are of the finest order that reaches as far as its own radius."""
    for match in find_ties(select, partial(read_nearness_of_row, leaf.relation)):
        radius = match.of_row
        if radius is None or not all(is_deterministic(part) for part in walk_expr(radius)):
            continue
        for known, _ in follow_ties(KnownEnd(match.ends[0], sure=False), [match]):
            if not _is_of_use(select, known.end, size):
                continue
            found, least = {}, 0.0
            for order in _ORDERS:
                most = farthest(order)
                found[order] = _around(select, leaf, match.ends[0], order, fresh, (radius, least, most))
                least = most
            found[0] = _around(select, leaf, match.ends[0], 0, fresh, (radius, least, math.inf))
            yield known, Filter(known.end, partial(_in_cells, found))


def _is_of_use(select: Select, end: End, size: int) -> bool:
    """Whether the position ``end`` is one that a large table is sorted by."""
    leaf = next(leaf for leaf in walk_leaves(select.from_) if leaf.relation == end[0].relation)
    lon, lat = (column.name for column in end)
    stored = find_origins(leaf, (lon, lat))
    return any(scan.entry.table.layout.position == names and _is_large(scan, size) for scan, names in stored)


def _in_cells(cells: dict[int, Select], position: tuple[Column, ...]) -> Expr:
    """Whether a position is in one of the cells that a query gives for each order."""
    tests = tuple(
        InSubquery(BOOLEAN, Call(LONG, "CELL", (*position, Literal(INT, order))), query)
        for order, query in cells.items()
    )
    return tests[0] if len(tests) == 1 else Call(BOOLEAN, "OR", tests)


def _around(
    select: Select,
    leaf: Scan | Derived,
    end: End,
    order: int,
    fresh: NameGenerator,
    limits: tuple[Expr, float, float] | None = None,
) -> Select:
    """The cells of the small table's rows; of those whose radius is at least the one, and less than the other limit."""
    wanted = _own(select, leaf)
    if limits is not None:
        radius, least, most = limits
        wanted.append(Call(BOOLEAN, ">=", (radius, Literal(DOUBLE, least))))
        if math.isfinite(most):
            wanted.append(Call(BOOLEAN, "<", (radius, Literal(DOUBLE, most))))
    table, conditions, (lon, lat) = _flat(leaf, wanted, end)
    if any(isinstance(part, Call) and part.name.startswith("CAP ") for part in walk_expr(lon)):
        table, conditions, (lon, lat) = leaf, wanted, end  # they are long, and computed once a row inside
    if order == 0:
        return _column(table, conditions, Call(LONG, "BASE CELLS", ()), fresh)
    index: Expr = Call(LONG, "HPX29", (lon, lat))
    if isinstance(table, Scan) and isinstance(lon, Column) and isinstance(lat, Column):
        index = find_index_column(table, lon, lat) or index
    return _column(table, conditions, Call(LONG, "CELLS AROUND", (index, Literal(INT, order))), fresh)


def _ids(select: Select, leaf: Scan | Derived, size: int, equal: list[Tie], fresh: NameGenerator) -> Given:
    leaves = {leaf.relation: leaf for leaf in walk_leaves(select.from_)}
    for match in equal:
        for end in match.ends:
            if end[0].relation != leaf.relation:
                continue
            for known, _ in follow_ties(KnownEnd(end, sure=False), [match]):
                [there] = known.end
                found = [
                    scan
                    for scan, (name,) in find_origins(leaves[there.relation], (there.name,))
                    if _is_chosen_from(scan, name, size)
                ]
                if found and _same_kind(end[0], there):
                    table, conditions, (value,) = _flat(leaf, _own(select, leaf), end)
                    yield known, _id_hint(known.end, _column(table, conditions, value, fresh))


def _id_hint(end: End, query: Select) -> Filter:
    return Filter(end, lambda columns: InSubquery(BOOLEAN, columns[0], query))


def _same_kind(value: Column, there: Column) -> bool:
    """Whether the engine selects by them in an IN as SQL compares: numbers with integers, or texts."""
    return (value.type.is_numeric and there.type.is_integer) or (value.type.is_text and there.type.is_text)


def _flat(
    leaf: Scan | Derived, conditions: list[Expr], exprs: tuple[Expr, ...]
) -> tuple[Relation, list[Expr], tuple[Expr, ...]]:
    """The same rows without a derived table that only selects: what it is made of, conditions and ``exprs`` of that."""
    if not isinstance(leaf, Derived) or not isinstance(leaf.query, Select):
        return leaf, conditions, exprs
    query = leaf.query
    if query.is_grouped or query.distinct or has_window(query):
        return leaf, conditions, exprs
    inner = {output.alias: output.expr for output in query.outputs}

    def change(expr: Expr) -> Expr:
        return inner[expr.name] if isinstance(expr, Column) and expr.relation == leaf.relation else expr

    conditions = [*split_conjuncts(query.where), *(transform_expr(c, change) for c in conditions)]
    exprs = tuple(transform_expr(e, change) for e in exprs)
    if isinstance(query.from_, Join):
        return query.from_, conditions, exprs
    return _flat(query.from_, conditions, exprs)


def _column(table: Relation, conditions: list[Expr], expr: Expr, fresh: NameGenerator) -> Select:
    alias = fresh.new_alias()
    output = Output(alias, expr, derive_field(expr, alias))
    return Select(table, combine_conjuncts(conditions), (), None, (output,), False, (), None, 0)
