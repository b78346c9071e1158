"""Which rows of a join are on one shard of a cluster, and which shards have rows of use at all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from adql.ir import (
    Call,
    Column,
    Derived,
    Expr,
    InCells,
    Join,
    Literal,
    Relation,
    Scan,
    Select,
    SetOperation,
    SubqueryExpr,
    Windowed,
    evaluate_constant,
    has_window,
    split_conjuncts,
    transform_expr,
    walk_expr,
    walk_leaves,
    walk_select_expressions,
)
from adql.regions import Moc
from adql.rewrite.spatial_covers import HPX29
from clickhouse_schema.healpix import NO_POSITION, centres, max_radius
from clickhouse_schema.shard_map import LOCAL, MARGIN, ShardMap

#: Conditions that bound the separation of two positions -> how many arguments tell of each
_NEAR = {"NEAR": 2, "NEARER": 2, "VECTORS NEAR": 3, "VECTORS NEARER": 3}

_AXES = ("X", "Y", "Z")


def find_sharded_scan(leaf: Relation) -> Scan | None:
    """The sharded table of which a part of FROM only selects rows and computes columns."""
    if isinstance(leaf, Scan):
        return leaf if leaf.entry.is_sharded else None
    if not isinstance(leaf, Derived) or leaf.place or isinstance(leaf.query, SetOperation):
        return None
    query = leaf.query
    if query.is_grouped or query.distinct or query.limit is not None or query.offset or query.order_by:
        return None
    if has_window(query) or any(isinstance(p, SubqueryExpr) for o in query.outputs for p in walk_expr(o.expr)):
        return None
    return find_sharded_scan(query.from_)


def _series(leaf: Relation) -> Scan | None:
    """As ``source``, but groups, windows and DISTINCT may be of rows with the same parent: these are on one shard."""
    if not isinstance(leaf, Derived) or leaf.place or isinstance(leaf.query, SetOperation):
        return find_sharded_scan(leaf)
    query = leaf.query
    scan = _series(query.from_)
    if scan is None or query.limit is not None or query.offset or query.order_by:
        return None
    parts = [part for expr in walk_select_expressions(replace(query, where=None)) for part in walk_expr(expr)]
    windows = [part for part in parts if isinstance(part, Windowed)]
    if any(isinstance(part, SubqueryExpr) for part in parts) or any(each.name == "NTILE" for each in windows):
        return None
    together = [each.partition_by for each in windows]
    together += [query.group_by] if query.is_grouped else []
    together += [tuple(output.expr for output in query.outputs)] if query.distinct else []
    return scan if all(_has_parent(scan, exprs, query.from_) for exprs in together) else None


def _has_parent(scan: Scan, exprs: Sequence[Expr], tree: Relation) -> bool:
    """Whether rows that are alike in ``exprs`` have the same parent."""
    parent = scan.entry.table.parent_key
    inner = [inline_derived_outputs(expr, {leaf.relation: leaf for leaf in walk_leaves(tree)}) for expr in exprs]
    names = {part.name for part in inner if isinstance(part, Column)}
    return parent is not None and names.issuperset(parent.columns)


def spine(tree: Relation) -> Iterator[Join]:
    """The joins of a left-deep tree, the innermost first."""
    if isinstance(tree, Join):
        yield from spine(tree.left)
        yield tree


@dataclass(frozen=True, slots=True)
class _Place:
    """Rows on a shard: ``reach`` degrees at most from its cells; ``home``: its own, not copies of its neighbours'."""

    scan: Scan
    reach: float
    home: bool


class Collocation:
    """Of the joins of a SELECT that begins with a sharded table, which the shards can do by themselves."""

    def __init__(self, select: Select) -> None:
        self._leaves = {leaf.relation: leaf for leaf in walk_leaves(select.from_)}
        self._parts: dict[int, str | None] = {}
        self._places: dict[int, _Place] = {}
        first = next(walk_leaves(select.from_))
        scan = find_sharded_scan(first)
        if scan is not None:
            self._places[first.relation] = _Place(scan, scan.entry.stray_radius, home=True)
        for join in spine(select.from_):
            [right] = walk_leaves(join.right)
            conditions = [*split_conjuncts(join.condition)]
            conditions += split_conjuncts(select.where) if join.kind == "INNER" else ()
            found = self._of(right, conditions) if join.kind != "FULL" else None
            self._parts[right.relation] = None if found is None else found[0]
            if found is not None:
                self._places[right.relation] = found[1]

    def find_part(self, join: Join) -> str | None:
        """The part of the table on the right in which a shard finds all partners; None if it does not."""
        return self._parts[next(walk_leaves(join.right)).relation]

    def _of(self, right: Scan | Derived, conditions: list[Expr]) -> tuple[str, _Place] | None:
        scan = _series(right)
        if scan is None or _counts_rows(right):
            return None
        if self._is_kin(right, scan, conditions):
            return LOCAL, _Place(scan, scan.entry.stray_radius, home=True)
        if find_sharded_scan(right) is None:
            return None
        reaches = [reach for c in conditions if (reach := self._reach(right, c)) is not None]
        if not reaches or min(reaches) > scan.entry.table.layout.overlap_radius:
            return None
        return MARGIN, _Place(scan, min(reaches), home=False)

    # --- by nearness --------------------------------------------------------------------------------------------------

    def _reach(self, right: Scan | Derived, condition: Expr) -> float | None:
        """Degrees from the shard's cells within which a nearness to what is there already has its partners."""
        size = _NEAR.get(condition.name) if isinstance(condition, Call) else None
        if size is None:
            return None
        args = condition.children
        radius = evaluate_constant(args[2 * size])
        if radius is None or radius < 0:
            return None
        ends = self._position(args[:size]), self._position(args[size : 2 * size])
        for here, there in (ends, ends[::-1]):
            if there == right.relation and here in self._places and here is not None:
                return self._places[here].reach + radius
        return None

    def _position(self, exprs: Sequence[Expr]) -> int | None:
        """The relation whose table's position these coordinates, or components of a unit vector, are."""
        numbers = {part.relation for expr in exprs for part in walk_expr(expr) if isinstance(part, Column)}
        if len(numbers) != 1:
            return None
        [number] = numbers
        scan = find_sharded_scan(self._leaves[number]) if number in self._leaves else None
        if scan is None:
            return None
        inner = tuple(self._stored(expr) for expr in exprs)
        if len(inner) == len(_AXES):
            places = {part.children for part in inner if isinstance(part, Call)}
            if [part.name for part in inner if isinstance(part, Call)] != [*_AXES] or len(places) != 1:
                return None
            inner = places.pop()
        names = tuple(part.name for part in inner if isinstance(part, Column) and part.relation == scan.relation)
        return number if names == scan.entry.table.layout.position else None

    def _stored(self, expr: Expr) -> Expr:
        return inline_derived_outputs(expr, self._leaves)

    # --- by equality --------------------------------------------------------------------------------------------------

    def _is_kin(self, right: Scan | Derived, scan: Scan, conditions: list[Expr]) -> bool:
        """Whether rows are joined with those of the same object: children, their parent, children of the same one."""
        equal: set[tuple[int, str, str]] = set()
        for condition in conditions:
            if not (isinstance(condition, Call) and condition.name == "="):
                continue
            for mine, theirs in (condition.args, condition.args[::-1]):
                if not (isinstance(mine, Column) and isinstance(theirs, Column) and mine.relation == right.relation):
                    continue
                inner, outer = self._stored(mine), self._stored(theirs)
                if isinstance(inner, Column) and isinstance(outer, Column) and _are_alike(inner, outer):
                    equal.add((theirs.relation, inner.name, outer.name))
        return any(
            place.home and any(all((number, *pair) in equal for pair in pairs) for pairs in _ties(scan, place.scan))
            for number, place in self._places.items()
        )


def _ties(scan: Scan, other: Scan) -> Iterator[list[tuple[str, str]]]:
    """The columns of both that are equal in rows of the same object."""
    own, others = scan.entry.table.parent_key, other.entry.table.parent_key
    if own is not None and own.referenced_table == other.entry.qualified_name:
        yield [*zip(own.columns, own.referenced_columns, strict=True)]
    if others is not None and others.referenced_table == scan.entry.qualified_name:
        yield [*zip(others.referenced_columns, others.columns, strict=True)]
    if own is not None and others is not None and own.referenced_table == others.referenced_table:
        named = dict(zip(others.referenced_columns, others.columns, strict=True))
        if set(named) == set(own.referenced_columns):
            yield [(column, named[ref]) for column, ref in zip(own.columns, own.referenced_columns, strict=True)]


def _are_alike(one: Column, other: Column) -> bool:
    return one.type == other.type or (one.type.is_integer and other.type.is_integer)


def inline_derived_outputs(expr: Expr, leaves: Mapping[int, Relation]) -> Expr:
    """The expression in terms of stored tables' columns, as far as derived tables are SELECTs."""

    def change(part: Expr) -> Expr:
        leaf = leaves.get(part.relation) if isinstance(part, Column) else None
        if not (isinstance(leaf, Derived) and isinstance(leaf.query, Select) and isinstance(part, Column)):
            return part
        inner = next(o.expr for o in leaf.query.outputs if o.alias == part.name)
        return inline_derived_outputs(inner, {below.relation: below for below in walk_leaves(leaf.query.from_)})

    return transform_expr(expr, change)


def _counts_rows(leaf: Relation) -> bool:
    """Whether rows have numbers, which copies of them on other shards would have too."""
    if not isinstance(leaf, Derived) or not isinstance(leaf.query, Select):
        return False
    parts = (part for expr in walk_select_expressions(leaf.query) for part in walk_expr(expr))
    return any(isinstance(p, Call) and p.name == "ROW NUMBER" for p in parts) or _counts_rows(leaf.query.from_)


# --- shards -----------------------------------------------------------------------------------------------------------


def find_shards(scan: Scan, conditions: Iterable[Expr], map_: ShardMap) -> frozenset[int] | None:
    """The shards with rows in the cells that ANDed ``conditions`` confine the table to; None if all are."""
    if math.isinf(scan.entry.stray_radius):
        return None
    wanted = frozenset(map_.cells)
    first, end = 0, None
    for part in conditions:
        if not (isinstance(part, (InCells, Call)) and part.children and _is_index(part.children[0], scan)):
            continue
        if isinstance(part, InCells):
            wanted &= _shards_of(part.cells, scan.entry.stray_radius, map_)
        elif isinstance(limit := part.args[-1], Literal) and isinstance(limit.value, int):
            first = max(first, limit.value) if part.name == ">=" else first
            end = limit.value if part.name == "<" else end
    if end is not None:
        wanted &= _shards_of(Moc.of([(first, end)]).cells(), scan.entry.stray_radius, map_)
    elif not scan.entry.stray_radius:  # children without a position are with their parents, anywhere
        wanted &= map_.find_shards([(first, NO_POSITION + 1)])
    return None if len(wanted) == map_.shard_count else wanted


def _is_index(expr: Expr, scan: Scan) -> bool:
    return isinstance(expr, Column) and expr.relation == scan.relation and expr.name == HPX29


def _shards_of(cells: Sequence[tuple[int, tuple[int, ...]]], strays: float, map_: ShardMap) -> frozenset[int]:
    if not strays:
        ranges = Moc.of_cells([*cells]).ranges
        return map_.find_shards((int(first), int(end)) for first, end in ranges)
    return frozenset(map_.cells[cell] for order, numbers in cells for cell in _near(order, numbers, strays, map_.order))


def _near(order: int, cells: tuple[int, ...], radius: float, coarse: int) -> list[int]:
    """The cells of order ``coarse`` with points within ``radius`` degrees of ``cells``; some more, and never fewer."""
    count = 12 * 4**coarse
    middles = centres(coarse, np.arange(count, dtype=np.uint64))
    wanted = centres(order, np.array(cells, np.uint64))
    least = math.cos(min(math.pi, math.radians(radius) + max_radius(order) + max_radius(coarse)))
    found = np.zeros(count, bool)
    for start in range(0, len(wanted), 1024):
        found |= (middles @ wanted[start : start + 1024].T >= least - 1e-12).any(axis=1)
    return [int(cell) for cell in np.flatnonzero(found)]
