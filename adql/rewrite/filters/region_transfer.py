"""Transfer the region to which a condition confines a position to other positions, as filters.

* Into derived tables: ``SELECT ... FROM (SELECT ra, dec FROM t) AS q WHERE (q.ra, q.dec) in R`` also confines
  (t.ra, t.dec) to R, unless the derived table counts its rows (TOP, OFFSET, window functions).
* Across matches: ``a JOIN b ON NEAR(a, b, r) WHERE a in R`` confines b to R grown by r, and so on along chains.

This pass runs before the inner SELECTs are rewritten; ``add_covers`` turns the filters into covers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from adql.ir import Column, Expr, Join, Relation, Scan, Select, TranslationContext, split_conjuncts
from adql.node_classes import replace
from adql.regions import Cone, Grown, Moc, Region, find_cover
from adql.regions.region_algebra import has_moc
from adql.rewrite.covers.confining_regions import (
    ImpliedWithin,
    Position,
    combine_confinements,
    find_confinements,
    find_ranges,
    intersect_regions,
)
from adql.rewrite.filters.condition_pushdown import Filter, add_filters, find_origins
from adql.rewrite.filters.match_ties import KnownEnd, find_ties, follow_ties, read_nearness_tie
from adql.rewrite.trees.relation_trees import Leaf, collect_leaves, collect_numbers
from clickhouse_schema.datatypes import BOOLEAN

#: Maximum number of cells of a grown MOC, because distances to many cells take long
_MAX_GROWN_CELLS = 500

Leaves = dict[int, Leaf]


@dataclass(frozen=True, slots=True)
class Fact:
    """A position lies in a region."""

    known: KnownEnd
    region: Region

    @property
    def position(self) -> Position:
        lon, lat = self.known.end
        return lon, lat

    @property
    def relation(self) -> int:
        return self.known.end[0].relation

    def make_condition(self, columns: tuple[Column, ...]) -> ImpliedWithin:
        """Return the filter for columns of the position, in this SELECT or in an inner one."""
        return ImpliedWithin(BOOLEAN, columns[0], columns[1], self.region)


def transfer_regions(select: Select, context: TranslationContext) -> Select:
    """Add filters to derived and matched tables, and make inner joins of outer joins where a filter allows it.

    The filters are ``ImpliedWithin``, which ``add_covers`` must replace or remove.
    """
    leaves = collect_leaves(select.from_)
    facts = _read_facts(select.where, leaves, is_sure=True)
    group_facts = [f for f in _read_facts(select.having, leaves, is_sure=True) if {*f.position} <= {*select.group_by}]
    select = select.with_from(_reduce_outer_joins(select.from_, {fact.relation for fact in facts}))
    facts += _read_facts_of_joins(select.from_, leaves, below_full=False)
    if not facts and not group_facts:
        return select
    matched = _transfer_across_matches([*facts, *group_facts], select)
    return _add_facts(select, facts, [*group_facts, *matched], context)


# --- facts ------------------------------------------------------------------------------------------------------------


def _read_facts_of_joins(relation: Relation, leaves: Leaves, *, below_full: bool) -> Iterator[Fact]:
    """Yield the facts in the ON of joins. ``below_full``: a FULL JOIN may make the rows NULL."""
    if not isinstance(relation, Join):
        return
    is_full = relation.kind == "FULL"
    yield from _read_facts_of_joins(relation.left, leaves, below_full=below_full or is_full)
    if is_full:
        return
    right = collect_numbers(relation.right)
    for fact in _read_facts(relation.condition, leaves, is_sure=False):
        is_on_right = fact.relation in right
        known = fact.known
        if relation.kind in ("INNER", "SEMI"):
            known = replace(known, is_sure=not below_full and not (is_on_right and relation.kind == "SEMI"))
        elif not is_on_right:
            known = replace(known, within=relation)
        yield Fact(known, fact.region)


def _read_facts(condition: Expr | None, leaves: Leaves, *, is_sure: bool) -> list[Fact]:
    def is_position(lon: Column, lat: Column) -> bool:
        leaf, columns = leaves.get(lon.relation), (lon.name, lat.name)
        if isinstance(leaf, Scan):
            return leaf.entry.table.layout.position == columns
        found = find_origins(leaf, columns)
        return any(scan.entry.table.layout.position == names for scan, names in found)

    parts = split_conjuncts(condition)
    found = [*(find_confinements(part, is_position) for part in parts), *find_ranges(parts, is_position)]
    confinements = combine_confinements(found)
    return [Fact(KnownEnd(position, is_sure), each.region) for position, each in confinements.items()]


def _reduce_outer_joins(relation: Relation, confined: set[int]) -> Relation:
    """Make inner joins of outer joins if a confined position excludes the rows that they fill with NULLs."""
    if not isinstance(relation, Join):
        return relation
    if not confined:
        return relation
    left, right = _reduce_outer_joins(relation.left, confined), _reduce_outer_joins(relation.right, confined)
    has_left, has_right = (bool(collect_numbers(side) & confined) for side in (left, right))
    kind = relation.kind
    if kind == "FULL" and has_left:
        kind = "LEFT"
    if kind == "LEFT" and has_right:
        kind = "INNER"
    if kind == "FULL" and has_right and not isinstance(left, Join):
        return Join("LEFT", right, left, relation.condition)
    return Join(kind, left, right, relation.condition)


# --- across matches ---------------------------------------------------------------------------------------------------


def _transfer_across_matches(facts: list[Fact], select: Select) -> Iterator[Fact]:
    ties = find_ties(select, read_nearness_tie)
    for origin in _merge_facts(facts) if ties else ():
        region = _coarsen_region(origin.region)
        for known, distance in follow_ties(origin.known, ties):
            yield Fact(known, _grow_region(region, distance))


def _merge_facts(facts: list[Fact]) -> list[Fact]:
    """Merge the facts of a position that are true in all rows into one fact."""
    sure: dict[KnownEnd, list[Region]] = {}
    for fact in facts:
        if fact.known.is_sure:
            sure.setdefault(fact.known, []).append(fact.region)
    merged = [Fact(known, intersect_regions(regions)) for known, regions in sure.items()]
    return merged + [fact for fact in facts if not fact.known.is_sure]


def _grow_region(region: Region, degrees: float) -> Region:
    if isinstance(region, Cone):
        return replace(region, radius=min(region.radius + degrees, 180.0)) if region.radius >= 0 else region
    return Grown(region, math.radians(degrees))


def _coarsen_region(region: Region) -> Region:
    return Moc.from_cells(find_cover(region, _MAX_GROWN_CELLS).all) if has_moc(region) else region


# --- filters ----------------------------------------------------------------------------------------------------------


def _add_facts(select: Select, facts: list[Fact], new: list[Fact], context: TranslationContext) -> Select:
    """Add all facts as filters to derived tables, and new facts to stored tables, which have their own conditions."""
    sure = {fact.relation for fact in (*facts, *new) if fact.known.is_sure}
    for relation, leaf in collect_leaves(select.from_).items():
        about: Iterable[Fact] = new if isinstance(leaf, Scan) else (*facts, *new)
        filters = [
            Filter(fact.position, fact.make_condition)
            for fact in about
            if fact.relation == relation and fact.known.within is None
        ]
        select = add_filters(select, leaf, filters, context, is_sure=relation in sure)
    return select
