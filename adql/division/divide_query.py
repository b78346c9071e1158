"""Queries in pieces: the same query for one range of HEALPix cells after the other, as Qserv's chunk queries.

One table of the query, the driving one, is cut by its ``hpx29``. Each row of the result comes from one row of it, so
the results of the pieces together are the result. What a near-neighbour join ties to the driving table is confined to
the cells around the piece; what nothing ties is read whole for each piece, and so has to be small.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adql.division.partial_groups import PartialGroups, find_merge_obstacle
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
    Query,
    Relation,
    Scan,
    Select,
    Subquery,
    combine_conjuncts,
    has_window,
    split_conjuncts,
    walk_expr,
    walk_leaves,
    walk_select_expressions,
    walk_selects,
)
from adql.regions import Moc
from adql.rewrite.condition_pushdown import Filter, add_filters, find_origins
from adql.rewrite.confining_regions import ImpliedWithin
from adql.rewrite.decorrelate import decorrelate_subqueries
from adql.rewrite.join_trees import turn_right_joins
from adql.rewrite.match_ties import KnownEnd, find_ties, follow_ties, read_nearness_tie
from adql.rewrite.relation_trees import replace_relation
from adql.rewrite.repeatable_relations import is_deterministic, is_repeatable
from adql.rewrite.spatial_covers import find_index_column
from adql.translation import BoundQuery, SqlStatement, emit_statement
from clickhouse_schema.datatypes import BOOLEAN, LONG
from clickhouse_schema.healpix import NO_POSITION, ORDER
from clickhouse_schema.tap_schema import TAP_SCHEMA

#: Rows that may be read whole for each piece: so many in all, or such a part of the driving table's.
_FEW = 100_000
_PART = 50


@dataclass(frozen=True, slots=True)
class Undivided:
    """A query that is not cut; ``reason`` says what needs all rows at once."""

    reason: str


@dataclass(frozen=True, slots=True)
class Piece:
    """The rows of the driving table from ``first`` to before ``end`` in hpx29; None: to the last, without position."""

    first: int
    end: int | None


@dataclass(frozen=True, slots=True)
class Level:
    """A SELECT on the way to the driving table, which is in its ``leaf`` and has there its position, if it shows."""

    leaf: int
    position: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Division:
    """How a query is cut: ``scan`` reads the driving table, ``levels`` lead to it, the outermost first.

    ``tied``: something is matched by nearness with it. ``groups``: of a query whose rows are groups, else None.
    """

    resolved: BoundQuery
    scan: Scan
    levels: tuple[Level, ...]
    tied: bool
    groups: PartialGroups | None

    @property
    def limit(self) -> int | None:
        """The most rows of the result; each piece gives as many at most, but for groups."""
        return self.resolved.query.limit

    def make_pieces(self, borders: tuple[int, ...]) -> tuple[Piece, ...]:
        """Between 0, the ascending ``borders`` and the end.

        What is near rows without position is none: where something is tied they are a piece of their own.
        """
        firsts = (0, *borders)
        ends = (*borders, NO_POSITION if self.tied else None)
        pieces = tuple(Piece(first, end) for first, end in zip(firsts, ends, strict=True))
        return (*pieces, Piece(NO_POSITION, None)) if self.tied else pieces

    def make_statement(self, piece: Piece, *, bare: bool = False) -> SqlStatement:
        """The query for one piece; of groups, ``bare`` states have the engine's types, which no driver reads."""
        fresh = copy(self.resolved.fresh)
        select = self._select if self.groups is None else self.groups.select_states(self._select, bare=bare)
        return emit_statement(replace(self.resolved, query=_cut(select, self.levels, piece, fresh), fresh=fresh))

    def make_merging_statement(self, schema: str, table: str, types: Mapping[str, str]) -> SqlStatement:
        """The query that makes the groups of those of the pieces, whose rows are in a table with columns of ``types``.

        Columns have the names and types that ``bare`` statements give; states are in text.
        """
        assert self.groups is not None  # noqa: S101  others have nothing to merge
        fresh = copy(self.resolved.fresh)
        query = self.groups.merge_states(self._select, schema, table, types, fresh)
        return emit_statement(replace(self.resolved, query=query, fresh=fresh))

    @property
    def _select(self) -> Select:
        assert isinstance(self.resolved.query, Select)  # noqa: S101  others are not cut
        return self.resolved.query


# --- whether, and by what ---------------------------------------------------------------------------------------------


def divide_query(resolved: BoundQuery) -> Division | Undivided:
    """How the query can be cut, by the largest table that allows it, or why it cannot."""
    query = resolved.query
    if not isinstance(query, Select):
        return Undivided(f"{query.op} joins the rows of two queries")
    if reason := (_not_merged(query) if query.is_grouped else _needs_all(query)) or _may_change(query):
        return Undivided(reason)
    ways = list(_ways(query))
    if not ways:
        return Undivided("there is no table with positions of which each row gives rows of the result by itself")
    scan, levels = max(ways, key=lambda way: way[0].entry.rows or 0)
    large, tied = _others(query, levels, scan.entry.rows or 0)
    if large:
        return Undivided(
            f"{', '.join(sorted(large))} would be read whole for each piece of {scan.entry.qualified_name}"
        )
    if not query.is_grouped:
        return Division(resolved, scan, levels, tied, None)
    fresh = copy(resolved.fresh)
    return Division(
        replace(resolved, query=query, fresh=fresh), scan, levels, tied, PartialGroups.from_select(query, fresh)
    )


def _not_merged(select: Select) -> str:
    return "a window function sees other groups" if has_window(select) else find_merge_obstacle(select)


def _needs_all(select: Select) -> str:
    """What in a SELECT sees more than one row of its FROM; '' if nothing does."""
    if select.is_grouped:
        return "set functions see all rows"
    if select.distinct:
        return "DISTINCT compares all rows"
    if has_window(select):
        return "a window function sees other rows"
    if select.offset:
        return "OFFSET counts all rows"
    if select.order_by:
        return "ORDER BY compares all rows"
    return ""


def _may_change(query: Select) -> str:
    """What of the query may be another for the next piece; '' if nothing may."""
    for select in walk_selects(query):
        for leaf in walk_leaves(select.from_):
            if isinstance(leaf, Scan) and leaf.entry.schema.name == TAP_SCHEMA.name:
                return "TAP_SCHEMA tells of one moment"
        for expr in walk_select_expressions(select):
            if any(isinstance(part, Call) and not is_deterministic(part) for part in walk_expr(expr)):
                return "random numbers are drawn for the whole query"
    return ""


Way = tuple[Scan, tuple[Level, ...]]


def _ways(select: Select) -> Iterator[Way]:
    """The tables of which each row gives rows of the result by itself, and how they are reached."""
    for leaf in _keeping(turn_right_joins(select.from_)):
        if isinstance(leaf, Scan):
            if leaf.entry.table.layout.position:
                yield leaf, (Level(leaf.relation, _position(leaf)),)
            continue
        inner = leaf.query
        if isinstance(inner, Select) and inner.limit is None and not _needs_all(replace(inner, order_by=())):
            for scan, levels in _ways(inner):
                yield scan, (Level(leaf.relation, _shown(leaf, inner, levels[0].position)), *levels)


def _keeping(relation: Relation) -> Iterator[Scan | Derived]:
    """The leaves of a join tree whose rows each give rows of the join by themselves."""
    if not isinstance(relation, Join):
        yield relation
    elif relation.kind != "FULL":
        yield from _keeping(relation.left)
        if relation.kind == "INNER":
            yield from _keeping(relation.right)


def _position(scan: Scan) -> tuple[Column, ...]:
    """The columns of a table's position."""
    fields = {field.name: field for field in scan.entry.fields}
    names = scan.entry.table.layout.position or ()
    return tuple(Column(fields[name].type, scan.relation, name, fields[name]) for name in names)


def _shown(leaf: Derived, inner: Select, position: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns of a derived table that are this position; none if it does not show."""
    outputs = {output.expr: output for output in inner.outputs}
    shown = tuple(outputs[column] for column in position if column in outputs)
    if not position or len(shown) < len(position):
        return ()
    return tuple(Column(output.expr.type, leaf.relation, output.alias, output.field) for output in shown)


def _others(select: Select, levels: tuple[Level, ...], rows: int) -> tuple[set[str], bool]:
    """The names of what is read whole for each piece and is too large for that, and whether something is tied."""
    level, *below = levels
    tied = {end[0].relation for end in _tied(select, level, sure=True)}
    large = {name for expr in walk_select_expressions(select) for name in _large_inside(expr, rows)}
    for leaf in walk_leaves(select.from_):
        if leaf.relation != level.leaf:
            if leaf.relation not in tied:
                large |= _large(leaf, rows)
            continue
        if isinstance(leaf, Derived) and isinstance(leaf.query, Select):
            large_below, tied_below = _others(leaf.query, tuple(below), rows)
            large |= large_below
            tied |= {leaf.relation} if tied_below else set()
    return large, bool(tied)


def _tied(select: Select, level: Level, *, sure: bool) -> list[tuple[Column, ...]]:
    """The positions near that of the driving table, where stored tables have theirs; ``sure``: it is never unknown."""
    if not level.position:
        return []
    straight = replace(select, from_=turn_right_joins(select.from_))
    leaves = {leaf.relation: leaf for leaf in walk_leaves(select.from_)}
    found = []
    for known, _ in follow_ties(KnownEnd(level.position, sure), find_ties(straight, read_nearness_tie)):
        lon, lat = known.end
        leaf = leaves[lon.relation]
        from_ = list(find_origins(leaf, (lon.name, lat.name)))
        if len(from_) == len(list(_scans(leaf))) and all(s.entry.table.layout.position == names for s, names in from_):
            found.append(known.end)
    return found


def _scans(relation: Relation) -> Iterator[Scan]:
    """Every reading of a table below."""
    for leaf in walk_leaves(relation):
        if isinstance(leaf, Scan):
            yield leaf
        else:
            yield from _scans_of(leaf.query)


def _scans_of(query: Query) -> Iterator[Scan]:
    return (leaf for select in walk_selects(query) for leaf in walk_leaves(select.from_) if isinstance(leaf, Scan))


def _large(leaf: Scan | Derived, rows: int) -> set[str]:
    """Tables of a leaf that are too large to be read for each piece of one of ``rows``, or may answer otherwise."""
    if not is_repeatable(leaf):
        return {"a derived table that may answer otherwise each time"}
    return _too_large(_scans(leaf), rows)


def _large_inside(expr: Expr, rows: int) -> set[str]:
    """The same of the subqueries in an expression."""
    found = set()
    for part in walk_expr(expr):
        if isinstance(part, (Subquery, InSubquery, Exists)):
            found |= _too_large(_scans_of(part.query), rows)
            if not is_deterministic(part):
                found.add("a subquery that may answer otherwise each time")
    return found


def _too_large(scans: Iterator[Scan], rows: int) -> set[str]:
    most = max(_FEW, rows // _PART)
    return {scan.entry.qualified_name for scan in scans if scan.entry.rows is None or scan.entry.rows > most}


def choose_borders(rows: NDArray[np.float64], order: int, count: int) -> tuple[int, ...]:
    """Where ``count`` pieces of about as many rows meet, indexes of order 29, ascending; fewer if rows are few.

    ``rows``: of each NESTED cell of ``order``, in which they are taken to lie evenly.
    """
    size = 4 ** (ORDER - order)
    reached = np.concatenate(([0.0], np.cumsum(rows)))
    if count < 2 or reached[-1] <= 0:
        return ()
    wanted = reached[-1] * np.arange(1, count) / count
    cells = np.searchsorted(reached, wanted, side="right") - 1
    parts = (wanted - reached[cells]) / rows[cells]
    found = {int(cell) * size + int(part * size) for cell, part in zip(cells, parts, strict=True)}
    return tuple(sorted(found - {0}))


# --- the cut ----------------------------------------------------------------------------------------------------------


def _cut(select: Select, levels: tuple[Level, ...], piece: Piece, fresh: NameGenerator) -> Select:
    """``select`` with the driving table's rows of one piece alone; what is tied to them need not be told."""
    level, *below = levels
    leaf = next(leaf for leaf in walk_leaves(select.from_) if leaf.relation == level.leaf)
    conditions: list[Expr] = []
    if isinstance(leaf, Scan):
        conditions += _of_piece(leaf, piece)
    elif isinstance(leaf.query, Select):
        inner = Derived(leaf.relation, _cut(leaf.query, tuple(below), piece, fresh))
        select = replace(select, from_=replace_relation(select.from_, leaf, inner))
    if not isinstance(select.from_, Join):
        return _with(select, conditions)
    if piece.first < NO_POSITION:
        return _with(select, [*conditions, *_hints(level, piece)])
    # with its subqueries as joins, of which the renaming of columns knows
    select = decorrelate_subqueries(_with(replace(select, from_=turn_right_joins(select.from_)), conditions), fresh)
    for end in _tied(select, level, sure=False):
        partner = next(leaf for leaf in walk_leaves(select.from_) if leaf.relation == end[0].relation)
        select = add_filters(select, partner, [Filter(end, lambda _: Literal(BOOLEAN, False))], fresh, is_sure=False)
    return select


def _of_piece(scan: Scan, piece: Piece) -> Iterator[Expr]:
    lon, lat = _position(scan)
    index = find_index_column(scan, lon, lat)
    assert index is not None  # noqa: S101  they are the table's position
    if piece.first:
        yield Call(BOOLEAN, ">=", (index, Literal(LONG, piece.first)))
    if piece.end is not None:
        yield Call(BOOLEAN, "<", (index, Literal(LONG, piece.end)))


def _hints(level: Level, piece: Piece) -> Iterator[Expr]:
    """What the passes carry on to the tables that are tied to this one."""
    if level.position and piece.end is not None:
        lon, lat = level.position
        yield ImpliedWithin(BOOLEAN, lon, lat, Moc.of([(piece.first, piece.end)]))


def _with(select: Select, conditions: list[Expr]) -> Select:
    return replace(select, where=combine_conjuncts([*split_conjuncts(select.where), *conditions]))
