"""Covers: conditions that confine a position become also a condition on the HEALPix index, which the sort key serves.

All conditions of one WHERE or ON together confine a position to one region, and its cover is ANDed to them. In the
cells that lie wholly inside the region, those conditions that say nothing else need no test.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from adql.ir import (
    Call,
    Column,
    Expr,
    InCells,
    InSubquery,
    Join,
    NameGenerator,
    Query,
    Relation,
    Scan,
    Select,
    combine_conjuncts,
    split_conjuncts,
    walk_expr,
    walk_leaves,
    walk_select_expressions,
    walk_selects,
)
from adql.regions import MOST_CELLS, Complement, Cover, Grown, Intersection, Moc, Region, Union, cover
from adql.regions.circle_union import Discs
from adql.rewrite.confining_regions import (
    Confinement,
    ImpliedWithin,
    Position,
    combine_confinements,
    find_confinements,
    find_ranges,
)
from clickhouse_schema.datatypes import BOOLEAN, LONG, Field

HPX29 = "hpx29"

#: A cover may have so many cells for each circle of a union ...
_CELLS_OF_A_PART = 16
#: ... and so many at most.
_MOST_CELLS = 10_000

#: A cover of a greater part of the sky costs more than it saves.
_MOST_SKY = 0.9


def add_covers(select: Select, fresh: NameGenerator) -> Select:  # noqa: ARG001  passes are called alike
    """The pass for one SELECT. It ends all hints (``Confined``)."""
    scans = {leaf.relation: leaf for leaf in walk_leaves(select.from_) if isinstance(leaf, Scan)}

    def covered(relation: Relation) -> Relation:
        if not isinstance(relation, Join):
            return relation
        condition = _covered(relation.condition, scans)
        return replace(relation, left=covered(relation.left), right=covered(relation.right), condition=condition)

    return replace(select, where=_covered(select.where, scans), from_=covered(select.from_))


def find_index_column(leaf: Scan, lon: Column, lat: Column) -> Column | None:
    """The ``hpx29`` column that belongs to (lon, lat); None unless they are the table's position."""
    if leaf.entry.table.layout.position != (lon.name, lat.name):
        return None
    field = Field(f"{leaf.entry.qualified_name}.{HPX29}", LONG, nullable=False)
    return Column(LONG, leaf.relation, HPX29, field)


def _covered(condition: Expr | None, scans: dict[int, Scan]) -> Expr | None:
    def index(lon: Column, lat: Column) -> Column | None:
        leaf = scans.get(lon.relation)
        return find_index_column(leaf, lon, lat) if leaf is not None and lat.relation == lon.relation else None

    parts = list(split_conjuncts(condition))
    said = [find_confinements(part, lambda lon, lat: index(lon, lat) is not None) for part in parts]
    limits = find_ranges(parts, lambda lon, lat: index(lon, lat) is not None)
    found = combine_confinements([*said, *limits])
    kept = [(part, one) for part, one in zip(parts, said, strict=True) if not isinstance(part, ImpliedWithin)]
    added: list[Expr] = []
    for position, confinement in found.items():
        column = index(*position)
        if column is not None:
            wanted, kept = _with_cover(column, position, cover_region(confinement.region), kept)
            added += wanted
    tests = (_cell_test(part, index) for part, _ in kept)
    return combine_conjuncts([*added, *(test for test in tests if test is not None)])


def _cell_test(expr: Expr, index: Callable[[Column, Column], Column | None]) -> Expr | None:
    """A hint ``CELL(lon, lat, order) IN (SELECT ...)``, or several of several orders, by the index; None without one.

    Other conditions as they are.
    """
    if isinstance(expr, Call) and expr.name == "OR" and all(_is_cell_test(arg) for arg in expr.args):
        tests = tuple(test for arg in expr.args if (test := _cell_test(arg, index)) is not None)
        return replace(expr, args=tests) if len(tests) == len(expr.args) else None
    if not (_is_cell_test(expr) and isinstance(expr, InSubquery) and isinstance(expr.operand, Call)):
        return expr
    lon, lat, order = expr.operand.args
    column = index(lon, lat) if isinstance(lon, Column) and isinstance(lat, Column) else None
    return None if column is None else replace(expr, operand=Call(LONG, "CELL OF", (column, order)))


def _is_cell_test(expr: Expr) -> bool:
    return isinstance(expr, InSubquery) and isinstance(expr.operand, Call) and expr.operand.name == "CELL"


Said = list[tuple[Expr, dict[Position, Confinement]]]


def _with_cover(index: Column, position: Position, cells: Cover, parts: Said) -> tuple[list[Expr], Said]:
    """The cover, and ``parts`` with one in place of those that cells wholly inside need not test."""
    if _sky(cells.all) > _MOST_SKY:
        return [], parts
    wanted = InCells(BOOLEAN, index, cells.all)
    whole = [part for part, said in parts if _says_only(said, position)]
    exact = combine_conjuncts(whole)
    if exact is None or not cells.inside:
        return [wanted], parts
    test = Call(BOOLEAN, "OR", (InCells(BOOLEAN, index, cells.inside), exact), span=exact.span)
    return [wanted], [(test, {}), *((part, said) for part, said in parts if not _says_only(said, position))]


def _says_only(said: dict[Position, Confinement], position: Position) -> bool:
    return position in said and said[position].whole


def cover_region(region: Region) -> Cover:
    """With more cells for unions of many shapes."""
    return cover(region, min(max(MOST_CELLS, _CELLS_OF_A_PART * _count(region)), _MOST_CELLS))


def _count(region: Region) -> int:
    if isinstance(region, (Union, Intersection)):
        return sum(_count(part) for part in region.parts)
    if isinstance(region, (Grown, Complement)):
        return _count(region.part)
    return len(region.radii) if isinstance(region, Discs) else 1


def _sky(cells: tuple[tuple[int, tuple[int, ...]], ...]) -> float:
    """The part of the sky in ``cells``."""
    return math.fsum(len(of_order) / (12 * 4**order) for order, of_order in cells)


def find_cells_read(query: Query) -> dict[str, Moc]:
    """The cells that covers confine each table's index to, by ``schema.table.hpx29``; all its conditions together."""
    found: dict[str, list[tuple[int, tuple[int, ...]]]] = {}
    for select in walk_selects(query):
        for expr in walk_select_expressions(select):
            for part in walk_expr(expr):
                if isinstance(part, InCells) and isinstance(part.index, Column):
                    found.setdefault(part.index.field.name, []).extend(part.cells)
    return {name: Moc.of_cells(cells) for name, cells in found.items()}
