"""Covers: a constant region around a position becomes also a condition on the HEALPix index, which the sort key serves.

A cover is ANDed to its predicate only where the predicate stands at positive polarity (below ANDs and ORs of WHERE and
ON); under NOT, or as a value, the exact test stands alone.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from adql.bound import (
    Call,
    Column,
    Derived,
    Expr,
    Fresh,
    InCells,
    Output,
    Query,
    Relation,
    Scan,
    Select,
    Within,
    conjuncts,
    relations,
    select_expressions,
    selects,
    walk,
)
from adql.regions import Cone, Cover, Moc, cover
from adql.resolve.constants import constant
from adql.rewrite.ranges import bounds, coordinate_range
from clickhouse_schema.datatypes import BOOLEAN, LONG, Field

NEARNESS = ("NEAR", "NEARER")

HPX29 = "hpx29"


class Positions:
    """Finds the HEALPix index that belongs to a pair of coordinate expressions, through derived tables.

    A derived table that does not show the index gets it as a hidden output, when ``finish`` rebuilds the FROM clause.
    """

    def __init__(self, select: Select, fresh: Fresh) -> None:
        self._leaves = {leaf.relation: leaf for leaf in relations(select.from_)}
        self._exports: dict[int, Derived] = {}
        self._fresh = fresh

    def index(self, lon: Expr, lat: Expr) -> Column | None:
        """The ``hpx29`` column of (lon, lat); None unless they are the position columns of one table."""
        if not (isinstance(lon, Column) and isinstance(lat, Column) and lon.relation == lat.relation):
            return None
        leaf = self._exports.get(lon.relation) or self._leaves.get(lon.relation)
        if isinstance(leaf, Scan):
            position = leaf.entry.table.layout.position
            if position != (lon.name, lat.name):
                return None
            field = Field(f"{leaf.entry.qualified}.{HPX29}", LONG, nullable=False)
            return Column(LONG, leaf.relation, HPX29, field)
        if isinstance(leaf, Derived):
            return self._through(leaf, lon, lat)
        return None

    def _through(self, leaf: Derived, lon: Column, lat: Column) -> Column | None:
        query = leaf.query
        if not isinstance(query, Select) or query.distinct or query.is_grouped:
            return None
        by_alias = {o.alias: o.expr for o in query.outputs}
        inner = Positions(query, self._fresh)
        found = inner.index(by_alias[lon.name], by_alias[lat.name])
        if found is None:
            return None
        alias = next((alias for alias, expr in by_alias.items() if expr == found), "")
        if not alias:
            alias = self._fresh.alias()
            query = replace(inner.finish(query), outputs=(*query.outputs, Output(alias, found, found.field)))
            self._exports[leaf.relation] = Derived(leaf.relation, query)
        return Column(LONG, leaf.relation, alias, found.field)

    def finish(self, select: Select) -> Select:
        """``select`` with the hidden outputs that were asked for."""
        if not self._exports:
            return select
        return replace(select, from_=self._rebuilt(select.from_))

    def _rebuilt(self, relation: Relation) -> Relation:
        if isinstance(relation, (Scan, Derived)):
            return self._exports.get(relation.relation, relation)
        return replace(relation, left=self._rebuilt(relation.left), right=self._rebuilt(relation.right))


def add_covers(query: Select, fresh: Fresh) -> Select:
    """The pass for one SELECT; its subqueries have been through it already."""
    positions = Positions(query, fresh)
    where = None if query.where is None else _covered(query.where, positions)
    from_ = _covered_joins(query.from_, positions)
    return positions.finish(replace(query, where=where, from_=from_))


def _covered_joins(relation: Relation, positions: Positions) -> Relation:
    if isinstance(relation, (Scan, Derived)):
        return relation
    condition = None if relation.condition is None else _covered(relation.condition, positions)
    left, right = _covered_joins(relation.left, positions), _covered_joins(relation.right, positions)
    return replace(relation, left=left, right=right, condition=condition)


def _covered(expr: Expr, positions: Positions) -> Expr:
    if isinstance(expr, Within):
        index = positions.index(expr.lon, expr.lat)
        return expr if index is None else _with_cover(expr, index, cover(expr.region))
    if not isinstance(expr, Call):
        return expr
    if expr.name == "OR":
        return expr.with_children(tuple([_covered(a, positions) for a in expr.args]))
    if expr.name == "AND":
        return _all_covered(conjuncts(expr), positions)
    if expr.name not in NEARNESS:
        return expr
    lon1, lat1, lon2, lat2, radius = expr.args
    for row, centre in (((lon1, lat1), (lon2, lat2)), ((lon2, lat2), (lon1, lat1))):
        cone = _constant_cone(*centre, radius)
        index = positions.index(*row) if cone else None
        if cone is not None and index is not None:
            return _with_cover(expr, index, cover(cone))
    return expr


def _all_covered(conditions: tuple[Expr, ...], positions: Positions) -> Expr:
    """ANDed conditions with their covers, and the cells of the range that comparisons of both coordinates leave."""
    parts = [_covered(condition, positions) for condition in conditions]
    found = bounds(conditions)
    for lon, lat in permutations(found, 2):
        index = positions.index(lon, lat)
        region = coordinate_range(found[lon], found[lat]) if index is not None else None
        if index is not None and region is not None:
            parts.append(InCells(BOOLEAN, index, cover(region).all))
    return Call(BOOLEAN, "AND", tuple(parts), span=conditions[0].span.to(conditions[-1].span))


def _constant_cone(lon: Expr, lat: Expr, radius: Expr) -> Cone | None:
    values = constant(lon), constant(lat), constant(radius)
    if any(v is None for v in values):
        return None
    return Cone(*(v for v in values if v is not None))


def _with_cover(exact: Expr, index: Column, cells: Cover) -> Expr:
    """cover AND (wholly inside OR exact); the OR is left out where nothing is wholly inside."""
    wanted = InCells(BOOLEAN, index, cells.all)
    test: Expr = exact
    if cells.inside:
        test = Call(BOOLEAN, "OR", (InCells(BOOLEAN, index, cells.inside), exact))
    return Call(BOOLEAN, "AND", (wanted, test), span=exact.span)


def cells_read(query: Query) -> dict[str, Moc]:
    """The cells that covers confine each table's index to, by ``schema.table.hpx29``; all its conditions together."""
    found: dict[str, list[tuple[int, tuple[int, ...]]]] = {}
    for select in selects(query):
        for expr in select_expressions(select):
            for part in walk(expr):
                if isinstance(part, InCells) and isinstance(part.index, Column):
                    found.setdefault(part.index.field.name, []).extend(part.cells)
    return {name: Moc.of_cells(cells) for name, cells in found.items()}
