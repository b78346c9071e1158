"""Add covers: conditions on the stored HEALPix index, the sort key, for conditions that confine a position.

    WHERE CONTAINS(POINT(ra, dec), CIRCLE(...)) = 1
    WHERE hpx29 IN cells AND exact test                                          few rows
    WHERE hpx29 IN cells AND (hpx29 IN cells inside the region OR exact test)    many rows

All conditions of a WHERE or ON together confine a position to one region, which has one cover. In cells that are
entirely inside the region, conditions on the region alone need no test; a cover of few rows has no such cells, because
they cost more than they save. This pass also removes the ``ImpliedWithin`` that ``transfer_regions`` adds, and writes
the CELL of ``filter_by_small_sides`` by the index.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from adql.ir import (
    Call,
    Column,
    Expr,
    InCells,
    InSubquery,
    Query,
    Scan,
    Select,
    TranslationContext,
    combine_conjuncts,
    split_conjuncts,
    walk_expr,
    walk_leaves,
    walk_select_expressions,
    walk_selects,
)
from adql.node_classes import replace
from adql.regions import MAX_COVER_CELLS, Complement, Cone, Cover, Grown, Intersection, Moc, Region, Union, find_cover
from adql.regions.circle_union import CircleUnion
from adql.regions.region_algebra import has_moc
from adql.regions.unit_vectors import SKY_AREA
from adql.rewrite.covers.confining_regions import (
    Confinements,
    ImpliedWithin,
    Position,
    combine_confinements,
    find_confinements,
    find_ranges,
)
from adql.rewrite.trees.relation_trees import collect_leaves, map_conditions
from adql.rewrite.trees.select_contents import SelectContents
from clickhouse_schema.adjacent_cells import find_cells_around
from clickhouse_schema.catalogue import UNKNOWN_DENSITY, TableEntry
from clickhouse_schema.datatypes import BOOLEAN, LONG, Field

HPX29 = "hpx29"

#: Maximum number of cells of a cover, for each shape of a union and in total
_MAX_CELLS_PER_SHAPE = 16
_MAX_CELLS = 10_000

#: Number of rows in the cells around a cone below which a closer cover costs more than it saves
_FEW_ROWS = 4096

#: Number of rows in a cover of few cells from which more cells save more than they cost
_MANY_ROWS = 100_000

#: The factor by which the number of cells is divided if there are fewer rows
_FEWER_CELLS = 2

#: The part of the sky above which a cover costs more than it saves
_MAX_SKY = 0.9

Scans = dict[int, Scan]


def may_have_cover(contents: SelectContents) -> bool:
    """Return whether ``add_covers`` may change a SELECT.

    Parameters
    ----------
    contents
        The SELECT.

    Returns
    -------
    bool
        True if conditions use both columns of a table's position, or if there may be a filter that ``add_covers`` must
        remove or write by the index.
    """
    if not contents.conditions.kinds.isdisjoint((ImpliedWithin, InSubquery)):
        return True
    positions = (
        (leaf.relation, leaf.entry.table.layout.position)
        for leaf in walk_leaves(contents.select.from_)
        if isinstance(leaf, Scan)
    )
    return any(
        position is not None and {(relation, name) for name in position} <= contents.conditions.columns
        for relation, position in positions
    )


def add_covers(select: Select, context: TranslationContext) -> Select:  # noqa: ARG001  every pass has this signature
    """Add the covers of WHERE and of each ON.

    Afterwards no condition has an ``ImpliedWithin``, or a ``CELL`` of ``filter_by_small_sides``.
    """
    scans = {number: leaf for number, leaf in collect_leaves(select.from_).items() if isinstance(leaf, Scan)}
    from_ = map_conditions(select.from_, lambda join: _cover_condition(join.condition, scans))
    return replace(select, where=_cover_condition(select.where, scans), from_=from_)


def find_index_column(leaf: Scan, lon: Column, lat: Column) -> Column | None:
    """Find the index of a position.

    Parameters
    ----------
    leaf
        A stored table.
    lon, lat
        Columns of this table.

    Returns
    -------
    Column or None
        Its column ``hpx29``; None if the columns are not its position.
    """
    if leaf.entry.table.layout.position != (lon.name, lat.name):
        return None
    field = Field(f"{leaf.entry.qualified_name}.{HPX29}", LONG, nullable=False)
    return Column(LONG, leaf.relation, HPX29, field)


@dataclass(frozen=True, slots=True)
class _Part:
    """A conjunct with the positions that it confines."""

    condition: Expr
    confinements: Confinements

    def is_only(self, position: Position) -> bool:
        """Return whether the conjunct only states a region of ``position``."""
        return position in self.confinements and self.confinements[position].is_exact


def _cover_condition(condition: Expr | None, scans: Scans) -> Expr | None:
    def is_position(lon: Column, lat: Column) -> bool:
        return _find_index(lon, lat, scans) is not None

    conditions = [
        each for each in split_conjuncts(condition) if not (isinstance(each, ImpliedWithin) and each.has_files)
    ]
    parts = [_Part(each, find_confinements(each, is_position)) for each in conditions]
    found = [*(part.confinements for part in parts), *find_ranges(conditions, is_position)]
    parts = [part for part in parts if not isinstance(part.condition, ImpliedWithin)]
    covers: list[Expr] = []
    for position, confinement in combine_confinements(found).items():
        index = _find_index(*position, scans)
        if index is not None:
            entry = scans[index.relation].entry
            added, parts = _add_cover(index, position, confinement.region, entry, parts)
            covers += added
    tests = (_test_by_index(part.condition, scans) for part in parts)
    return combine_conjuncts([*covers, *(test for test in tests if test is not None)])


def _find_index(lon: Column, lat: Column, scans: Scans) -> Column | None:
    scan = scans.get(lon.relation)
    return None if scan is None or lat.relation != lon.relation else find_index_column(scan, lon, lat)


def _test_by_index(expr: Expr, scans: Scans) -> Expr | None:
    """Write the filter ``CELL(lon, lat, order) IN (SELECT ...)``, or an OR of such filters, by the index.

    Return None if the table has no index, and other conditions unchanged.
    """
    if isinstance(expr, Call) and expr.name == "OR" and all(_is_cell_test(arg) for arg in expr.args):
        tests = tuple(test for arg in expr.args if (test := _test_by_index(arg, scans)) is not None)
        return replace(expr, args=tests) if len(tests) == len(expr.args) else None
    if not (_is_cell_test(expr) and isinstance(expr, InSubquery) and isinstance(expr.operand, Call)):
        return expr
    lon, lat, order = expr.operand.args
    index = _find_index(lon, lat, scans) if isinstance(lon, Column) and isinstance(lat, Column) else None
    return None if index is None else replace(expr, operand=Call(LONG, "CELL OF", (index, order)))


def _is_cell_test(expr: Expr) -> bool:
    return isinstance(expr, InSubquery) and isinstance(expr.operand, Call) and expr.operand.name == "CELL"


def _add_cover(
    index: Column, position: Position, region: Region, entry: TableEntry, parts: list[_Part]
) -> tuple[list[Expr], list[_Part]]:
    """Return the cover, and ``parts`` in which one test replaces the conditions that cells inside the region satisfy.

    The index of an attached table comes from its files. A row without a position may have an index, so all rows are
    tested.
    """
    density = entry.local_density or UNKNOWN_DENSITY
    if (around := _find_cells_of_few_rows(region, density)) is not None:
        return [InCells(BOOLEAN, index, (around,), region)], parts
    cover, has_many_rows = _choose_cover(region, density)
    cells = cover.all
    if _sum_sky(cells) > _MAX_SKY:
        return [], parts
    covers: list[Expr] = [InCells(BOOLEAN, index, cells, region)]
    exact = combine_conjuncts([part.condition for part in parts if part.is_only(position)])
    if exact is None or entry.attached is not None or not (cover.inside and has_many_rows):
        return covers, parts
    others = [part for part in parts if not part.is_only(position)]
    if not cover.border:
        return covers, others
    test = Call(BOOLEAN, "OR", (InCells(BOOLEAN, index, cover.inside), exact), span=exact.span)
    return covers, [_Part(test, {}), *others]


def _find_cells_of_few_rows(region: Region, density: float) -> tuple[int, tuple[int, ...]] | None:
    """Return the cells around a cone if they have few rows: a closer cover would cost more than it saves."""
    around = find_cells_around(region.lon, region.lat, region.radius) if isinstance(region, Cone) else None
    return around if around is not None and _sum_sky((around,)) * SKY_AREA * density < _FEW_ROWS else None


def _choose_cover(region: Region, density: float) -> tuple[Cover, bool]:
    """Return the cheapest cover, by the estimated number of rows in it, and whether these are many.

    A MOC is tested by its cells, so fewer cells save nothing.
    """
    # a cover has at least the rows of its region, so a cover that would be too large need not be searched
    least_rows = region.area * density if isinstance(region, Cone) and region.radius > 0 else 0.0
    if least_rows < _MANY_ROWS and not has_moc(region):
        cover = cover_region(region, _FEWER_CELLS)
        if _sum_sky(cover.all) * SKY_AREA * density < _MANY_ROWS:
            return cover, False
    return cover_region(region), True


def cover_region(region: Region, fewer: int = 1) -> Cover:
    """Cover a region, with more cells for a union of many shapes.

    Parameters
    ----------
    region
        The region.
    fewer
        The factor by which the usual number of cells is divided.

    Returns
    -------
    Cover
        The cells on the border of the region, and the cells inside it.
    """
    cells = min(max(MAX_COVER_CELLS, _MAX_CELLS_PER_SHAPE * _count_shapes(region)), _MAX_CELLS)
    return find_cover(region, cells // fewer)


def _count_shapes(region: Region) -> int:
    if isinstance(region, (Union, Intersection)):
        return sum(_count_shapes(part) for part in region.parts)
    if isinstance(region, (Grown, Complement)):
        return _count_shapes(region.part)
    return len(region.radii) if isinstance(region, CircleUnion) else 1


def _sum_sky(cells: tuple[tuple[int, tuple[int, ...]], ...]) -> float:
    """Return the fraction of the sky in ``cells``."""
    return math.fsum(len(numbers) / (12 * 4**order) for order, numbers in cells)


def find_cells_read(query: Query) -> dict[str, Moc]:
    """Find the cells to which covers confine the tables of a query.

    Parameters
    ----------
    query
        The query after all passes.

    Returns
    -------
    dict[str, Moc]
        ``schema.table.hpx29`` -> the union of the covers of this table.
    """
    found: dict[str, list[tuple[int, tuple[int, ...]]]] = {}
    for select in walk_selects(query):
        for expr in walk_select_expressions(select):
            for part in walk_expr(expr):
                if isinstance(part, InCells) and isinstance(part.index, Column):
                    found.setdefault(part.index.field.name, []).extend(part.cells)
    return {name: Moc.from_cells(cells) for name, cells in found.items()}
