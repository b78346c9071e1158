"""Find the driving table of a query, by whose cells the query can be divided into pieces.

Each row of the result comes from one row of the driving table. A table that a nearness ties to it is read near the
piece. Any other table is read completely for each piece, so it must be small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from adql.ir import (
    SUBQUERIES,
    Column,
    Derived,
    Join,
    Relation,
    Scan,
    Select,
    has_window,
    walk_expr,
    walk_leaves,
    walk_scans,
    walk_scans_of_query,
    walk_select_expressions,
)
from adql.rewrite.filters.condition_pushdown import find_origins
from adql.rewrite.filters.match_ties import KnownEnd, find_ties, follow_ties, read_nearness_tie
from adql.rewrite.joins.join_trees import turn_right_joins
from adql.rewrite.trees.derived_tables import is_row_by_row
from adql.rewrite.trees.relation_trees import Leaf, collect_leaves
from adql.rewrite.trees.repeatable_relations import is_deterministic, is_repeatable

#: Maximum number of rows that may be read for each piece, as a number and relative to the rows of the driving table
_MAX_ROWS_READ_WHOLE = 100_000
_MIN_RATIO_READ_WHOLE = 50


@dataclass(frozen=True, slots=True)
class Level:
    """A SELECT that contains the driving table, in its leaf with the relation number ``leaf``.

    ``position``: the columns of this leaf with the driving table's position; empty if it does not have them.
    """

    leaf: int
    position: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible driving table, and the SELECTs around it, the outermost first."""

    scan: Scan
    levels: tuple[Level, ...]


def find_candidates(select: Select) -> Iterator[Candidate]:
    """Yield the tables with positions of which each row gives rows of the result independently of other rows."""
    for leaf in _walk_kept_leaves(turn_right_joins(select.from_)):
        if isinstance(leaf, Scan):
            if leaf.entry.table.layout.position:
                yield Candidate(leaf, (Level(leaf.relation, make_position(leaf)),))
            continue
        inner = leaf.query
        if isinstance(inner, Select) and is_row_by_row(inner):
            for candidate in find_candidates(inner):
                level = Level(leaf.relation, _find_shown_columns(leaf, inner, candidate.levels[0].position))
                yield Candidate(candidate.scan, (level, *candidate.levels))


def find_row_dependence(select: Select) -> str:
    """Return the reason why a SELECT needs several rows of its FROM together; '' if it does not."""
    if select.is_grouped:
        return "set functions need all rows"
    if select.distinct:
        return "DISTINCT compares all rows"
    if has_window(select):
        return "a window function needs other rows"
    if select.offset:
        return "OFFSET counts all rows"
    if select.order_by:
        return "ORDER BY compares all rows"
    return ""


def _walk_kept_leaves(relation: Relation) -> Iterator[Leaf]:
    """Yield the leaves of a join tree of which each row gives rows of the join independently of other rows."""
    if not isinstance(relation, Join):
        yield relation
    elif relation.kind != "FULL":
        yield from _walk_kept_leaves(relation.left)
        if relation.kind == "INNER":
            yield from _walk_kept_leaves(relation.right)


def make_position(scan: Scan) -> tuple[Column, ...]:
    """Return the columns of a table's position."""
    fields = {field.name: field for field in scan.entry.fields}
    names = scan.entry.table.layout.position or ()
    return tuple(Column(fields[name].type, scan.relation, name, fields[name]) for name in names)


def _find_shown_columns(leaf: Derived, inner: Select, position: tuple[Column, ...]) -> tuple[Column, ...]:
    outputs = {output.expr: output for output in inner.outputs}
    shown = tuple(outputs[column] for column in position if column in outputs)
    if not position or len(shown) < len(position):
        return ()
    return tuple(Column(output.expr.type, leaf.relation, output.alias, output.field) for output in shown)


# --- other tables -----------------------------------------------------------------------------------------------------


def find_large_reads(select: Select, levels: tuple[Level, ...], rows: int) -> tuple[set[str], bool]:
    """Find the tables that are too large to be read completely for each piece.

    Parameters
    ----------
    select
        The query.
    levels
        The SELECTs around the driving table.
    rows
        The number of rows of the driving table.

    Returns
    -------
    tuple[set[str], bool]
        The names of these tables, and whether a nearness ties a table to the driving table.
    """
    level, *inner_levels = levels
    tied = {end[0].relation for end in find_tied_positions(select, level, is_sure=True)}
    large = _find_large_subqueries(select, rows)
    for leaf in walk_leaves(select.from_):
        if leaf.relation != level.leaf:
            if leaf.relation not in tied:
                large |= _find_large_tables(leaf, rows)
        elif isinstance(leaf, Derived) and isinstance(leaf.query, Select):
            inner_large, has_inner_ties = find_large_reads(leaf.query, tuple(inner_levels), rows)
            large |= inner_large
            tied |= {leaf.relation} if has_inner_ties else set()
    return large, bool(tied)


def find_tied_positions(select: Select, level: Level, *, is_sure: bool) -> list[tuple[Column, ...]]:
    """Return the positions of stored tables that nearnesses tie to the position of the driving table.

    ``is_sure``: whether the position of the driving table is never NULL.
    """
    if not level.position:
        return []
    straight = replace(select, from_=turn_right_joins(select.from_))
    leaves = collect_leaves(select.from_)
    ties = find_ties(straight, read_nearness_tie)
    ends = (known.end for known, _ in follow_ties(KnownEnd(level.position, is_sure), ties))
    return [end for end in ends if _is_stored_position(leaves[end[0].relation], end)]


def _is_stored_position(leaf: Leaf, position: tuple[Column, ...]) -> bool:
    """Return whether columns of a leaf are the positions of all tables that it reads."""
    origins = list(find_origins(leaf, tuple(column.name for column in position)))
    has_all = len(origins) == len(list(walk_scans(leaf)))
    return has_all and all(scan.entry.table.layout.position == names for scan, names in origins)


def _find_large_tables(leaf: Leaf, rows: int) -> set[str]:
    if not is_repeatable(leaf):
        return {"a derived table that may return other rows each time"}
    return _filter_large(walk_scans(leaf), rows)


def _find_large_subqueries(select: Select, rows: int) -> set[str]:
    found = set()
    parts = (part for expr in walk_select_expressions(select) for part in walk_expr(expr))
    for part in parts:
        if isinstance(part, SUBQUERIES):
            found |= _filter_large(walk_scans_of_query(part.query), rows)
            if not is_deterministic(part):
                found.add("a subquery that may return other rows each time")
    return found


def _filter_large(scans: Iterable[Scan], rows: int) -> set[str]:
    limit = max(_MAX_ROWS_READ_WHOLE, rows // _MIN_RATIO_READ_WHOLE)
    return {scan.entry.qualified_name for scan in scans if scan.entry.rows is None or scan.entry.rows > limit}
