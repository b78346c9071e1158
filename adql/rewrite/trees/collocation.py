"""Collocated joins, for which each shard has all partners of its rows, among its own rows or in its overlap.

* By nearness: the sum of the radii along a chain of matches is at most the overlap radius of the right table. The shard
  reads its own rows and the overlap (``MARGIN``).
* By equality of a foreign key with its parent's key: children are stored on the shard of their parent. The shard reads
  its own rows (``LOCAL``).

``counted_matches``, ``merged_matches`` and, after all other passes, ``distribute`` use this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from adql.ir import (
    SUBQUERIES,
    Call,
    Column,
    Derived,
    Expr,
    Join,
    Nearness,
    Relation,
    Scan,
    Select,
    SetOperation,
    VectorNearness,
    Windowed,
    evaluate_constant,
    split_conjuncts,
    transform_expr,
    walk_expr,
    walk_joins,
    walk_leaves,
    walk_select_expressions,
    walk_selects,
)
from adql.node_classes import replace
from adql.rewrite.trees.relation_trees import Leaf, collect_leaves, has_subquery
from adql.rewrite.trees.sharded_tables import find_sharded_scan
from clickhouse_schema.shard_map import LOCAL, MARGIN

_AXES = ("X", "Y", "Z")


def _find_series_scan(leaf: Relation) -> Scan | None:
    """Do the same as ``find_sharded_scan``, but allow groups, windows and DISTINCT by the parent (one shard each)."""
    if not isinstance(leaf, Derived) or leaf.computed_on or isinstance(leaf.query, SetOperation):
        return find_sharded_scan(leaf)
    query = leaf.query
    scan = _find_series_scan(query.from_)
    if scan is None or query.limit is not None or query.offset or query.order_by:
        return None
    parts = [part for expr in walk_select_expressions(replace(query, where=None)) for part in walk_expr(expr)]
    windows = [part for part in parts if isinstance(part, Windowed)]
    if any(isinstance(part, SUBQUERIES) for part in parts) or any(each.name == "NTILE" for each in windows):
        return None
    groupings = [each.partition_by for each in windows]
    groupings += [query.group_by] if query.is_grouped else []
    groupings += [tuple(output.expr for output in query.outputs)] if query.distinct else []
    return scan if all(_has_parent_key(scan, exprs, query.from_) for exprs in groupings) else None


def _has_parent_key(scan: Scan, exprs: Sequence[Expr], tree: Relation) -> bool:
    """Return whether rows with equal ``exprs`` have the same parent."""
    parent = scan.entry.table.parent_key
    stored = [inline_derived_outputs(expr, collect_leaves(tree)) for expr in exprs]
    names = {part.name for part in stored if isinstance(part, Column)}
    return parent is not None and names.issuperset(parent.columns)


@dataclass(frozen=True, slots=True)
class _ShardRows:
    """Rows of a table that a shard has, within ``reach`` degrees of its cells. ``is_own``: without the overlap."""

    scan: Scan
    reach: float
    is_own: bool


class Collocation:
    """The collocated joins of a SELECT.

    Parameters
    ----------
    select
        The SELECT. Its FROM is left-deep; no join is collocated unless the first table is sharded.
    """

    def __init__(self, select: Select) -> None:
        self._leaves = collect_leaves(select.from_)
        self._parts: dict[int, str | None] = {}
        self._rows: dict[int, _ShardRows] = {}
        first = next(walk_leaves(select.from_))
        scan = find_sharded_scan(first)
        if scan is not None:
            self._rows[first.relation] = _ShardRows(scan, scan.entry.stray_radius, is_own=True)
        for join in walk_joins(select.from_):
            [right] = walk_leaves(join.right)
            conditions = [*split_conjuncts(join.condition)]
            conditions += split_conjuncts(select.where) if join.kind == "INNER" else ()
            found = self._find_partners(right, conditions) if join.kind != "FULL" else None
            self._parts[right.relation] = None if found is None else found[0]
            if found is not None:
                self._rows[right.relation] = found[1]

    def find_part(self, join: Join) -> str | None:
        """Return the part of the right table of a join that has all partners of a shard's rows.

        Parameters
        ----------
        join
            A join of the SELECT.

        Returns
        -------
        str or None
            ``LOCAL`` for a join by a parent's key, ``MARGIN`` for a match within the overlap radius; None if no part
            has all partners.
        """
        return self._parts[next(walk_leaves(join.right)).relation]

    def _find_partners(self, right: Leaf, conditions: list[Expr]) -> tuple[str, _ShardRows] | None:
        scan = _find_series_scan(right)
        if scan is None or _numbers_rows(right):
            return None
        if self._is_kin(right, scan, conditions):
            return LOCAL, _ShardRows(scan, scan.entry.stray_radius, is_own=True)
        if find_sharded_scan(right) is None:
            return None
        reaches = [reach for c in conditions if (reach := self._find_reach(right, c)) is not None]
        if not reaches or min(reaches) > scan.entry.table.layout.overlap_radius:
            return None
        return MARGIN, _ShardRows(scan, min(reaches), is_own=False)

    # --- by nearness --------------------------------------------------------------------------------------------------

    def _find_reach(self, right: Leaf, condition: Expr) -> float | None:
        """Return the maximum distance in degrees of partners by nearness from the shard's cells; None if unknown."""
        near = _read_nearness(condition)
        radius = None if near is None else evaluate_constant(near.radius)
        if near is None or radius is None or radius < 0:
            return None
        left, right_end = self._find_position(near.left), self._find_position(near.right)
        for known, other in ((left, right_end), (right_end, left)):
            if other == right.relation and known is not None and known in self._rows:
                return self._rows[known].reach + radius
        return None

    def _find_position(self, exprs: Sequence[Expr]) -> int | None:
        """Return the relation whose table has these coordinates, or unit vector, as its position; None without one."""
        numbers = {part.relation for expr in exprs for part in walk_expr(expr) if isinstance(part, Column)}
        if len(numbers) != 1:
            return None
        [number] = numbers
        scan = find_sharded_scan(self._leaves[number]) if number in self._leaves else None
        if scan is None:
            return None
        coordinates = tuple(inline_derived_outputs(expr, self._leaves) for expr in exprs)
        if len(coordinates) == len(_AXES):
            axes = [part for part in coordinates if isinstance(part, Call)]
            positions = {part.children for part in axes}
            if [part.name for part in axes] != [*_AXES] or len(positions) != 1:
                return None
            coordinates = positions.pop()
        names = tuple(c.name for c in coordinates if isinstance(c, Column) and c.relation == scan.relation)
        return number if names == scan.entry.table.layout.position else None

    # --- by equality --------------------------------------------------------------------------------------------------

    def _is_kin(self, right: Leaf, scan: Scan, conditions: list[Expr]) -> bool:
        """Return whether rows join their parent, their children, or children of the same parent."""
        equal = {pair for condition in conditions for pair in self._find_equal_columns(right, condition)}
        for number, rows in self._rows.items():
            keys = _list_kinships(scan, rows.scan) if rows.is_own else ()
            if any(all((number, *pair) in equal for pair in pairs) for pairs in keys):
                return True
        return False

    def _find_equal_columns(self, right: Leaf, condition: Expr) -> Iterator[tuple[int, str, str]]:
        """Yield, for an equality, the other relation and the stored columns of ``right`` and of the other relation."""
        if not (isinstance(condition, Call) and condition.name == "="):
            return
        for own, other in (condition.args, condition.args[::-1]):
            if not (isinstance(own, Column) and isinstance(other, Column) and own.relation == right.relation):
                continue
            inner, outer = (inline_derived_outputs(side, self._leaves) for side in (own, other))
            if isinstance(inner, Column) and isinstance(outer, Column) and _have_like_types(inner, outer):
                yield other.relation, inner.name, outer.name


def has_pairs_on_shards(select: Select, join: Join, one: Leaf, other: Leaf) -> bool:
    """Return whether each shard has the partners of its own rows.

    Parameters
    ----------
    select
        The SELECT of the join.
    join
        A match of two tables.
    one, other
        The side whose rows are the shard's own, and the side of the partners.

    Returns
    -------
    bool
        True if all partners are among the shard's rows of ``other`` and its overlap.
    """
    if find_sharded_scan(one) is None or any(map(has_subquery, walk_select_expressions(select))):
        return False
    inside = (query for leaf in (one, other) if isinstance(leaf, Derived) for query in walk_selects(leaf.query))
    if any(has_subquery(expr) for query in inside for expr in walk_select_expressions(query)):
        return False
    ordered = replace(join, left=one, right=other)
    return Collocation(replace(select, from_=ordered)).find_part(ordered) == MARGIN


def _read_nearness(condition: Expr) -> Nearness | VectorNearness | None:
    if isinstance(condition, Call) and condition.name in ("VECTORS NEAR", "VECTORS NEARER"):
        return VectorNearness.from_call(condition)
    return Nearness.match(condition)


def _list_kinships(scan: Scan, other: Scan) -> Iterator[list[tuple[str, str]]]:
    """Yield the pairs of columns whose equality means that rows of two tables have the same parent."""
    own_key, other_key = scan.entry.table.parent_key, other.entry.table.parent_key
    if own_key is not None and own_key.referenced_table == other.entry.qualified_name:
        yield [*zip(own_key.columns, own_key.referenced_columns, strict=True)]
    if other_key is not None and other_key.referenced_table == scan.entry.qualified_name:
        yield [*zip(other_key.referenced_columns, other_key.columns, strict=True)]
    if own_key is not None and other_key is not None and own_key.referenced_table == other_key.referenced_table:
        named = dict(zip(other_key.referenced_columns, other_key.columns, strict=True))
        if set(named) == set(own_key.referenced_columns):
            yield [(own, named[ref]) for own, ref in zip(own_key.columns, own_key.referenced_columns, strict=True)]


def _have_like_types(one: Column, other: Column) -> bool:
    return one.type == other.type or (one.type.is_integer and other.type.is_integer)


def inline_derived_outputs(expr: Expr, leaves: Mapping[int, Relation]) -> Expr:
    """Write an expression in terms of columns of stored tables.

    Parameters
    ----------
    expr
        The expression.
    leaves
        Relation number -> leaf of FROM.

    Returns
    -------
    Expr
        The expression; columns of derived tables that are not SELECTs remain.
    """

    def change(part: Expr) -> Expr:
        leaf = leaves.get(part.relation) if isinstance(part, Column) else None
        if not (isinstance(leaf, Derived) and isinstance(leaf.query, Select) and isinstance(part, Column)):
            return part
        inner = next(o.expr for o in leaf.query.outputs if o.alias == part.name)
        return inline_derived_outputs(inner, collect_leaves(leaf.query.from_))

    return transform_expr(expr, change)


def _numbers_rows(leaf: Relation) -> bool:
    """Return whether rows are numbered; the numbers would differ between copies of a row on two shards."""
    if not isinstance(leaf, Derived) or not isinstance(leaf.query, Select):
        return False
    parts = (part for expr in walk_select_expressions(leaf.query) for part in walk_expr(expr))
    return any(isinstance(p, Call) and p.name == "ROW NUMBER" for p in parts) or _numbers_rows(leaf.query.from_)
