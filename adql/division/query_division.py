"""Divide a query into pieces, which are the same query for successive ranges of HEALPix cells, like Qserv's chunks.

One table of the query, the driving table, is divided by its ``hpx29``, so the results of all pieces together are the
result of the query.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from adql.division.driving_table import (
    Level,
    find_candidates,
    find_large_reads,
    find_row_dependence,
    find_tied_positions,
    make_position,
)
from adql.division.partial_groups import PartialGroups, find_merge_obstacle
from adql.ir import (
    Call,
    Derived,
    Expr,
    Join,
    Literal,
    Query,
    Scan,
    Select,
    TranslationContext,
    combine_conjuncts,
    has_window,
    split_conjuncts,
    walk_expr,
    walk_leaves,
    walk_select_expressions,
    walk_selects,
)
from adql.regions import Moc
from adql.rewrite.covers.confining_regions import ImpliedWithin
from adql.rewrite.covers.spatial_covers import find_index_column
from adql.rewrite.filters.condition_pushdown import Filter, add_filters
from adql.rewrite.joins.join_trees import turn_right_joins
from adql.rewrite.subqueries.decorrelate import decorrelate_subqueries
from adql.rewrite.trees.relation_trees import collect_leaves, replace_relation
from adql.rewrite.trees.repeatable_relations import is_deterministic
from adql.translation import BoundQuery, SqlStatement, emit_statement
from clickhouse_schema.datatypes import BOOLEAN, LONG
from clickhouse_schema.hats.attachment import AttachedRows, to_ranges
from clickhouse_schema.healpix import NO_POSITION
from clickhouse_schema.tap_schema import TAP_SCHEMA


@dataclass(frozen=True, slots=True)
class Undivided:
    """A query that cannot be divided. ``reason``: the part of the query that needs all rows, for messages."""

    reason: str


@dataclass(frozen=True, slots=True)
class Piece:
    """The rows of the driving table with ``first <= hpx29 < end``; without ``end``, also rows without a position.

    For an attached table whose files have no index, these are the rows of the files whose cells begin in this range.
    """

    first: int
    end: int | None


@dataclass(frozen=True, slots=True)
class Division:
    """A query that can be divided into pieces.

    Attributes
    ----------
    bound
        The bound query.
    scan
        The driving table.
    levels
        The SELECTs around the driving table, the outermost first.
    has_ties
        Whether a nearness ties another table to the driving table.
    groups
        The partial groups of a query with set functions or GROUP BY; else None.
    """

    bound: BoundQuery
    scan: Scan
    levels: tuple[Level, ...]
    has_ties: bool
    groups: PartialGroups | None

    @property
    def limit(self) -> int | None:
        """The row limit of the result, and of each piece without groups."""
        return self.bound.query.limit

    def make_pieces(self, borders: tuple[int, ...]) -> tuple[Piece, ...]:
        """Return the pieces between borders.

        Parameters
        ----------
        borders
            Ascending indexes of order 29. If files are not divided, the next borders of files replace them.

        Returns
        -------
        tuple[Piece, ...]
            The pieces. Nothing is near rows without a position, so these are a separate piece if a table is tied.
        """
        if files := _find_whole_files(self.scan):
            borders = files.attachment.find_file_borders(borders)
        firsts = (0, *borders)
        ends = (*borders, NO_POSITION if self.has_ties else None)
        pieces = tuple(Piece(first, end) for first, end in zip(firsts, ends, strict=True))
        return (*pieces, Piece(NO_POSITION, None)) if self.has_ties and not files else pieces

    def make_statement(self, piece: Piece, *, bare: bool = False) -> SqlStatement:
        """Return the statement for one piece.

        Parameters
        ----------
        piece
            One of ``make_pieces``.
        bare
            Whether states of groups have the engine's types, which no driver reads, instead of text.
        """
        context = self.bound.context.branch()
        select = self._select if self.groups is None else self.groups.select_states(self._select, bare=bare)
        return emit_statement(
            replace(self.bound, query=_cut_select(select, self.levels, piece, context), context=context)
        )

    def make_merging_statement(self, schema: str, table: str, types: Mapping[str, str]) -> SqlStatement:
        """Return the statement that merges the groups of all pieces.

        Parameters
        ----------
        schema, table
            The names of the table of the rows of all pieces, with states as text.
        types
            Name of a column of a ``bare`` statement -> its engine type.
        """
        assert self.groups is not None  # noqa: S101  others have nothing to merge
        context = self.bound.context.branch()
        query = self.groups.merge_states(self._select, schema, table, types, context)
        return emit_statement(replace(self.bound, query=query, context=context))

    @property
    def _select(self) -> Select:
        assert isinstance(self.bound.query, Select)  # noqa: S101  others are not divided
        return self.bound.query


def divide_query(bound: BoundQuery) -> Division | Undivided:
    """Divide a query by the largest table that allows it.

    Parameters
    ----------
    bound
        The bound query (``Translation.bound``).

    Returns
    -------
    Division or Undivided
        The divided query, or the reason why it cannot be divided.
    """
    query = bound.query
    if not isinstance(query, Select):
        return Undivided(f"{query.op} combines the rows of two queries")
    reason = _find_group_obstacle(query) if query.is_grouped else find_row_dependence(query)
    reason = reason or _find_changing_part(query)
    if reason:
        return Undivided(reason)
    candidates = list(find_candidates(query))
    if not candidates:
        return Undivided(
            "no table with positions has rows that each give rows of the result independently of other rows"
        )
    driving = max(candidates, key=lambda candidate: candidate.scan.entry.rows or 0)
    large, has_ties = find_large_reads(query, driving.levels, driving.scan.entry.rows or 0)
    if large:
        names = ", ".join(sorted(large))
        return Undivided(f"{names} would be read completely for each piece of {driving.scan.entry.qualified_name}")
    if not query.is_grouped:
        return Division(bound, driving.scan, driving.levels, has_ties, None)
    context = bound.context.branch()
    groups = PartialGroups.from_select(query, context)
    return Division(replace(bound, context=context), driving.scan, driving.levels, has_ties, groups)


def _find_group_obstacle(select: Select) -> str:
    return "a window function needs other groups" if has_window(select) else find_merge_obstacle(select)


def _find_changing_part(query: Query) -> str:
    """Return the reason why parts of a query may differ between pieces; '' if they do not."""
    for select in walk_selects(query):
        for leaf in walk_leaves(select.from_):
            if isinstance(leaf, Scan) and leaf.entry.schema.name == TAP_SCHEMA.name:
                return "TAP_SCHEMA describes a single moment"
        for expr in walk_select_expressions(select):
            if any(isinstance(part, Call) and not is_deterministic(part) for part in walk_expr(expr)):
                return "random numbers are drawn for all of the query"
    return ""


# --- the cut ----------------------------------------------------------------------------------------------------------


def _cut_select(select: Select, levels: tuple[Level, ...], piece: Piece, context: TranslationContext) -> Select:
    """Return ``select`` for the rows of one piece of the driving table, with filters for the tied tables."""
    level, *inner_levels = levels
    leaf = collect_leaves(select.from_)[level.leaf]
    conditions: list[Expr] = []
    files = _find_whole_files(leaf)
    if isinstance(leaf, Scan) and files:
        chosen = files.choose_files(to_ranges([(piece.first, NO_POSITION if piece.end is None else piece.end)]))
        read = replace(leaf, entry=leaf.entry.read_attached(chosen))
        select = replace(select, from_=replace_relation(select.from_, leaf, read))
    elif isinstance(leaf, Scan):
        conditions += _test_piece(leaf, piece)
    elif isinstance(leaf.query, Select):
        inner = Derived(leaf.relation, _cut_select(leaf.query, tuple(inner_levels), piece, context))
        select = replace(select, from_=replace_relation(select.from_, leaf, inner))
    if not isinstance(select.from_, Join):
        return _add_conditions(select, conditions)
    if piece.first < NO_POSITION:
        return _add_conditions(select, [*conditions, *_imply_region(level, piece, has_files=files is not None)])
    # subqueries become joins first, because columns in subqueries are not renamed
    straight = replace(select, from_=turn_right_joins(select.from_))
    select = decorrelate_subqueries(_add_conditions(straight, conditions), context)
    for end in find_tied_positions(select, level, is_sure=False):
        partner = collect_leaves(select.from_)[end[0].relation]
        select = add_filters(select, partner, [Filter(end, lambda _: Literal(BOOLEAN, False))], context, is_sure=False)
    return select


def _test_piece(scan: Scan, piece: Piece) -> Iterator[Expr]:
    lon, lat = make_position(scan)
    index = find_index_column(scan, lon, lat)
    assert index is not None  # noqa: S101  they are the table's position
    if piece.first:
        yield Call(BOOLEAN, ">=", (index, Literal(LONG, piece.first)))
    if piece.end is not None:
        yield Call(BOOLEAN, "<", (index, Literal(LONG, piece.end)))


def _find_whole_files(leaf: Scan | Derived) -> AttachedRows | None:
    """Return the rows of an attached table whose files have no index, so that a piece has complete files; else None.

    A computed index does not determine the file of a row, which may have no position, or lie on a border.
    """
    rows = leaf.entry.attached if isinstance(leaf, Scan) else None
    return None if rows is None or rows.attachment.index_column else rows


def _imply_region(level: Level, piece: Piece, *, has_files: bool) -> Iterator[Expr]:
    """Yield the region of the piece as a filter, which passes transfer to the tied tables."""
    if level.position and piece.end is not None:
        lon, lat = level.position
        yield ImpliedWithin(BOOLEAN, lon, lat, Moc.from_ranges([(piece.first, piece.end)]), has_files)


def _add_conditions(select: Select, conditions: list[Expr]) -> Select:
    return replace(select, where=combine_conjuncts([*split_conjuncts(select.where), *conditions]))
