"""The plan of a query in plain English: one line for each step, indented below the step that takes its rows."""

from __future__ import annotations

import math
from collections.abc import Iterator

from adql.index_use import describe_index_use, explain_unserved
from adql.ir import (
    WEIGHED_COUNT,
    Aggregate,
    Call,
    Column,
    Derived,
    Exists,
    Expr,
    InCells,
    InSubquery,
    Join,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    Subquery,
    has_window,
    split_conjuncts,
    walk_expr,
    walk_leaves,
    walk_scans,
    walk_select_expressions,
)
from adql.regions import Moc
from adql.rewrite.matches.counted_matches import CellMatch
from adql.rewrite.matches.merged_matches import MergedMatch
from adql.rewrite.trees.relation_trees import is_join_equality
from clickhouse_schema.healpix import NO_POSITION
from clickhouse_schema.row_store import is_row_column
from clickhouse_schema.shard_map import LOCAL, MARGIN

_INDENT = "  "

#: ``Derived.computed_on`` -> where its rows are computed
_COMPUTED_ON_NOTES = {"shards": "on each shard", "server": "all rows sent to one server"}

#: ``Scan.part`` -> which rows of a shard are read
_SHARD_PART_NOTES = {"": "", LOCAL: ", a shard's own rows", MARGIN: ", a shard's own rows and rows near its borders"}

#: A longer plan is cut
_MAX_LINES = 60


def describe_plan(query: Query) -> list[str]:
    """Describe a query after the passes.

    Parameters
    ----------
    query
        The rewritten query.

    Returns
    -------
    list[str]
        One line for each step, indented by its depth; a long plan is cut and ends with "...".
    """
    lines = list(_describe_query(query, 0))
    if len(lines) > _MAX_LINES:
        return [*lines[:_MAX_LINES], "..."]
    return lines


def _describe_query(query: Query, depth: int) -> Iterator[str]:
    if query.limit is not None or query.offset:
        most = "all rows" if query.limit is None else f"{query.limit} rows at most"
        yield _INDENT * depth + most + (f", after {query.offset}" if query.offset else "")
        depth += 1
    if query.order_by:
        yield f"{_INDENT * depth}sort by {_format_count(len(query.order_by), 'expression')}"
        depth += 1
    if isinstance(query, SetOperation):
        yield f"{_INDENT * depth}{query.op}{' ALL' if query.all else ''}"
        yield from _describe_query(query.left, depth + 1)
        yield from _describe_query(query.right, depth + 1)
        return
    if query.distinct:
        yield f"{_INDENT * depth}remove duplicates"
        depth += 1
    if has_window(query):
        yield f"{_INDENT * depth}window functions"
        depth += 1
    if query.is_grouped:
        yield _INDENT * depth + _describe_grouping(query)
        depth += 1
    yield from _describe_rows(query, depth)


def _describe_grouping(select: Select) -> str:
    names = {e.name for o in select.outputs for e in walk_expr(o.expr) if isinstance(e, Aggregate)}
    names = {"COUNT" if name == WEIGHED_COUNT else name for name in names}
    by = f"group by {_format_count(len(select.group_by), 'key')}" if select.group_by else "one group"
    return f"{by}: {', '.join(sorted(names))}" if names else by


def _describe_rows(select: Select, depth: int) -> Iterator[str]:
    if select.where is not None:
        yield f"{_INDENT * depth}filter by {_format_count(len(split_conjuncts(select.where)), 'condition')}"
        depth += 1
    yield from _describe_relation(select.from_, select, depth)
    for expr in walk_select_expressions(select):
        for part in walk_expr(expr):
            if isinstance(part, (Subquery, InSubquery, Exists)):
                yield f"{_INDENT * depth}subquery"
                yield from _describe_query(part.query, depth + 1)


def _describe_relation(relation: Relation, select: Select, depth: int) -> Iterator[str]:
    if isinstance(relation, Scan):
        yield _INDENT * depth + _describe_scan(relation, select)
        yield from (_INDENT * (depth + 1) + reason for reason in explain_unserved(relation, select))
    elif isinstance(relation, Derived):
        if relation.computed_on:
            yield _INDENT * depth + _COMPUTED_ON_NOTES[relation.computed_on]
            depth += 1
        yield from _describe_query(relation.query, depth)
    else:
        sent = ", the second one sent to all shards" if relation.is_global else ""
        sent = ", both sent to one server" if _is_away_from_rows(relation) else sent
        method = _describe_join_method(relation, MergedMatch.from_query(select))
        yield f"{_INDENT * depth}{relation.kind.lower()} join {method}{sent}"
        yield from _describe_relation(relation.left, select, depth + 1)
        yield from _describe_relation(relation.right, select, depth + 1)


def _is_away_from_rows(join: Join) -> bool:
    """Return whether rows of sharded tables are sent to one server for a join."""
    first = next(walk_leaves(join))
    if _is_on_shards(first):
        return False
    return any(scan.entry.is_sharded and not scan.part for scan in walk_scans(join))


def _is_on_shards(leaf: Relation) -> bool:
    if isinstance(leaf, Scan):
        return leaf.entry.is_sharded
    return isinstance(leaf, Derived) and leaf.computed_on == "shards"


def is_cross_match(join: Join) -> bool:
    """Return whether a join is a cross-match by cubes or cells of the sky, as the passes write it."""
    return join.is_merge or CellMatch.from_join(join) is not None or _is_match_of_cubes(join)


def _is_match_of_cubes(join: Join) -> bool:
    outputs = {
        (leaf.relation, output.alias): output.expr
        for leaf in walk_leaves(join)
        if isinstance(leaf, Derived) and isinstance(leaf.query, Select)
        for output in leaf.query.outputs
    }
    keys = (side for c in split_conjuncts(join.condition) if isinstance(c, Call) and c.name == "=" for side in c.args)
    made = (outputs.get((key.relation, key.name)) for key in keys if isinstance(key, Column))
    return any(isinstance(expr, Call) and expr.name.startswith("CUBE") for expr in made)


def _describe_join_method(join: Join, merged: MergedMatch | None) -> str:
    if merged is not None:
        return "by nearness, merged in HEALPix order" + (", across the borders of cells" if merged.is_border else "")
    if CellMatch.from_join(join) is not None:
        return "by nearness, in cells of the sky: cells within the radius are counted without tests"
    if _is_match_of_cubes(join):
        return "by nearness, in cubes of the sky"
    if any(is_join_equality(c, join) for c in split_conjuncts(join.condition)):
        return "by equal values"
    return "of every row with every row"


def _describe_scan(scan: Scan, select: Select) -> str:
    read = {part.name for part in _walk_select(select) if isinstance(part, Column) and part.relation == scan.relation}
    name = (
        scan.entry.qualified_name if scan.entry.table.match is None else f"the kept match {scan.entry.qualified_name}"
    )
    if any(map(is_row_column, read)):
        text = f"read whole rows from the row store of {name}"
    else:
        text = f"read {_format_count(len(read), 'column')} of {name}"
    rows = scan.entry.rows
    text += "" if rows is None else f", {_format_count(rows, 'row')}"
    text += _SHARD_PART_NOTES[scan.part]
    cells = [part.cells for part in _walk_select(select) if isinstance(part, InCells) and _is_cover_of(part, scan)]
    if found_by := describe_index_use(scan, select):
        text += f", {found_by}"
    if not cells:
        return text
    ranges = Moc.from_cells([of_order for cover in cells for of_order in cover]).ranges
    sky = float((ranges[:, 1] - ranges[:, 0]).sum()) / NO_POSITION
    return f"{text}, in cells of {_format_percent(sky)} of the sky"


def _walk_select(select: Select) -> Iterator[Expr]:
    return (part for expr in walk_select_expressions(select) for part in walk_expr(expr))


def _is_cover_of(part: InCells, scan: Scan) -> bool:
    return isinstance(part.index, Column) and part.index.relation == scan.relation


def _format_percent(part: float) -> str:
    return f"{100 * part:.{max(0, 1 - math.floor(math.log10(100 * part)))}f} %" if part > 0 else "0 %"


def _format_count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
