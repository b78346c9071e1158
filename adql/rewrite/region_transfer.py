"""Hints that conditions on one table give for another: regions go down into derived tables, and across matches.

What WHERE, HAVING and ON say of a position (``confined``) holds

* inside a derived table, where the position comes from, unless that counts its rows (TOP, OFFSET, window functions);
* grown by the radius, for what the position is matched with by a nearness of constant radius, and so on along chains.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from adql.ir import Column, Derived, Expr, Join, NameGenerator, Relation, Scan, Select, split_conjuncts, walk_leaves
from adql.regions import Cone, Grown, Moc, Region, cover
from adql.regions.region_relations import has_moc
from adql.rewrite.condition_pushdown import Filter, add_filters, find_origins
from adql.rewrite.confining_regions import (
    ImpliedWithin,
    Position,
    combine_confinements,
    find_confinements,
    find_ranges,
    intersect_regions,
)
from adql.rewrite.match_ties import KnownEnd, find_ties, follow_ties, read_nearness
from clickhouse_schema.datatypes import BOOLEAN

#: A MOC is grown by way of so many cells.
_CELLS = 500


@dataclass(frozen=True, slots=True)
class Fact:
    """Where a position lies."""

    known: KnownEnd
    region: Region

    @property
    def position(self) -> Position:
        lon, lat = self.known.end
        return lon, lat

    def hint(self, columns: tuple[Column, ...]) -> ImpliedWithin:
        """For the position's columns there or deeper."""
        return ImpliedWithin(BOOLEAN, columns[0], columns[1], self.region)

    @property
    def relation(self) -> int:
        return self.known.end[0].relation


def transfer_regions(select: Select, fresh: NameGenerator) -> Select:
    """The pass for one SELECT, before those inside of it."""
    if isinstance(select.from_, Scan) and select.having is None:
        return select
    known = [*_facts(select.where, _leaves(select), sure=True)]
    of_groups = [f for f in _facts(select.having, _leaves(select), sure=True) if {*f.position} <= {*select.group_by}]
    nonnull = {fact.relation for fact in known}
    select = replace(select, from_=_without_needless_nulls(select.from_, nonnull))
    known += _facts_of_joins(select.from_, _leaves(select), outer=False)
    if not known and not of_groups:
        return select
    return _placed(select, known, [*of_groups, *_carried([*known, *of_groups], select)], fresh)


# --- what is known ----------------------------------------------------------------------------------------------------


Leaves = dict[int, Scan | Derived]


def _leaves(select: Select) -> Leaves:
    return {leaf.relation: leaf for leaf in walk_leaves(select.from_)}


def _facts_of_joins(relation: Relation, leaves: Leaves, *, outer: bool) -> Iterator[Fact]:
    """``outer``: a FULL join above may fill the rows with NULLs."""
    if not isinstance(relation, Join):
        return
    yield from _facts_of_joins(relation.left, leaves, outer=outer or relation.kind == "FULL")
    if relation.kind == "FULL":
        return
    right = {leaf.relation for leaf in walk_leaves(relation.right)}
    for fact in _facts(relation.condition, leaves, sure=False):
        on_right = fact.relation in right
        known = fact.known
        if relation.kind in ("INNER", "SEMI"):
            known = replace(known, sure=not outer and not (on_right and relation.kind == "SEMI"))
        elif not on_right:
            known = replace(known, within=relation)
        yield Fact(known, fact.region)


def _facts(condition: Expr | None, leaves: Leaves, *, sure: bool) -> list[Fact]:
    def is_position(lon: Column, lat: Column) -> bool:
        found = find_origins(leaves.get(lon.relation), (lon.name, lat.name))
        return any(scan.entry.table.layout.position == names for scan, names in found)

    parts = split_conjuncts(condition)
    said = combine_confinements(
        [*(find_confinements(part, is_position) for part in parts), *find_ranges(parts, is_position)]
    )
    return [Fact(KnownEnd(position, sure), confinement.region) for position, confinement in said.items()]


def _without_needless_nulls(relation: Relation, sure: set[int]) -> Relation:
    """Outer joins as inner ones where the rows that they fill with NULLs are dropped: a known position has none."""
    if not isinstance(relation, Join):
        return relation
    left, right = _without_needless_nulls(relation.left, sure), _without_needless_nulls(relation.right, sure)
    has_left, has_right = (any(leaf.relation in sure for leaf in walk_leaves(side)) for side in (left, right))
    kind = relation.kind
    if kind == "FULL" and has_left:
        kind = "LEFT"
    if kind == "LEFT" and has_right:
        kind = "INNER"
    if kind == "FULL" and has_right and not isinstance(left, Join):
        return Join("LEFT", right, left, relation.condition)
    return Join(kind, left, right, relation.condition)


# --- across matches ---------------------------------------------------------------------------------------------------


def _carried(facts: list[Fact], select: Select) -> Iterator[Fact]:
    """What follows across matches."""
    found = find_ties(select, read_nearness)
    for origin in _joined(facts) if found else ():
        region = _coarse(origin.region)
        for known, distance in follow_ties(origin.known, found):
            yield Fact(known, _grown(region, distance))


def _joined(facts: list[Fact]) -> list[Fact]:
    """One fact of each position from those that hold everywhere, and the others."""
    sure: dict[KnownEnd, list[Region]] = {}
    for fact in facts:
        if fact.known.sure:
            sure.setdefault(fact.known, []).append(fact.region)
    everywhere = [Fact(known, intersect_regions(regions)) for known, regions in sure.items()]
    return everywhere + [fact for fact in facts if not fact.known.sure]


def _grown(region: Region, by: float) -> Region:
    """By degrees; a circle stays one."""
    if isinstance(region, Cone):
        return replace(region, radius=min(region.radius + by, 180.0)) if region.radius >= 0 else region
    return Grown(region, math.radians(by))


def _coarse(region: Region) -> Region:
    """Distances to many cells take long."""
    return Moc.of_cells(cover(region, _CELLS).all) if has_moc(region) else region


# --- where it is put --------------------------------------------------------------------------------------------------


def _placed(select: Select, known: list[Fact], new: list[Fact], fresh: NameGenerator) -> Select:
    """Hints of all facts about derived tables, and of new ones about stored tables.

    What WHERE or ON says of a stored table itself has no need of a hint.
    """
    sure = {fact.relation for fact in (*known, *new) if fact.known.sure}
    for relation, leaf in _leaves(select).items():
        about = new if isinstance(leaf, Scan) else [*known, *new]
        hints = [Filter(f.position, f.hint) for f in about if f.relation == relation and f.known.within is None]
        select = add_filters(select, leaf, hints, fresh, sure=relation in sure)
    return select
