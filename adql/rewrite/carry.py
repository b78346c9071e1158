"""Hints that conditions on one table give for another: regions go down into derived tables, and across matches.

What WHERE, HAVING and ON say of a position (``confined``) holds

* inside a derived table, where the position comes from, unless that counts its rows (TOP, OFFSET, window functions);
* grown by the radius, for what the position is matched with by a nearness of constant radius, and so on along chains.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from adql.bound import (
    Call,
    Column,
    Derived,
    Expr,
    Fresh,
    Join,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    conjunction,
    conjuncts,
    has_window,
    relations,
)
from adql.regions import Cone, Grown, Moc, Region, cover
from adql.regions.relations import has_moc
from adql.rewrite.confined import Confined, Position, confinements, intersection, ranges, together
from adql.rewrite.joins import replaced
from adql.rewrite.matches import Known, matches, nearness, reached
from adql.rewrite.wrap import Wrapped
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, FLOAT

#: A MOC is grown by way of so many cells.
_CELLS = 500


@dataclass(frozen=True, slots=True)
class Fact:
    """Where a position lies."""

    known: Known
    region: Region

    @property
    def position(self) -> Position:
        lon, lat = self.known.end
        return lon, lat

    @property
    def relation(self) -> int:
        return self.known.end[0].relation


def carry(select: Select, fresh: Fresh) -> Select:
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
    return {leaf.relation: leaf for leaf in relations(select.from_)}


def _facts_of_joins(relation: Relation, leaves: Leaves, *, outer: bool) -> Iterator[Fact]:
    """``outer``: a FULL join above may fill the rows with NULLs."""
    if not isinstance(relation, Join):
        return
    yield from _facts_of_joins(relation.left, leaves, outer=outer or relation.kind == "FULL")
    if relation.kind == "FULL":
        return
    right = {leaf.relation for leaf in relations(relation.right)}
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
        return _is_position(leaves.get(lon.relation), lon.name, lat.name)

    parts = conjuncts(condition)
    said = together([*(confinements(part, is_position) for part in parts), *ranges(parts, is_position)])
    return [Fact(Known(position, sure), confinement.region) for position, confinement in said.items()]


def _is_position(leaf: Relation | None, lon: str, lat: str) -> bool:
    """Whether two columns of a table are where it, or a table that they come from, has its position."""
    if isinstance(leaf, Scan):
        return leaf.entry.table.layout.position == (lon, lat)
    return isinstance(leaf, Derived) and _from_position(leaf.query, lon, lat)


def _from_position(query: Query, lon: str, lat: str) -> bool:
    inner = _inner_position(query, lon, lat)
    if inner is None:
        return False
    x, y = inner
    if isinstance(query, Select):
        leaf = next((leaf for leaf in relations(query.from_) if leaf.relation == x.relation), None)
        return _is_position(leaf, x.name, y.name)
    return any(_from_position(side, *names) for side, names in _sides(query, x, y))


def _inner_position(query: Query, lon: str, lat: str) -> Position | None:
    """The columns that two outputs are, if a condition on them may as well be tested inside of the query."""
    if query.limit is not None or query.offset or has_window(query):
        return None
    found = {output.alias: output.expr for output in query.outputs if output.alias in (lon, lat)}
    x, y = _uncast(found[lon]), _uncast(found[lat])
    if not (isinstance(x, Column) and isinstance(y, Column) and x.relation == y.relation):
        return None
    if isinstance(query, Select) and query.is_grouped and not {x, y} <= set(query.group_by):
        return None
    return x, y


def _uncast(expr: Expr) -> Expr:
    """Without a CAST that changes no coordinate, as both sides of a set operation have it."""
    if isinstance(expr, Call) and expr.name == "CAST" and len(expr.args) == 1:
        inner = expr.args[0]
        if expr.type == inner.type or (expr.type == DOUBLE and inner.type == FLOAT):
            return inner
    return expr


def _sides(query: SetOperation, x: Column, y: Column) -> Iterator[tuple[Query, tuple[str, str]]]:
    """Both sides with their names of the columns that the left one calls ``x`` and ``y``."""
    names = [output.alias for output in query.left.outputs]
    i, j = names.index(x.name), names.index(y.name)
    for side in (query.left, query.right):
        yield side, (side.outputs[i].alias, side.outputs[j].alias)


def _without_needless_nulls(relation: Relation, sure: set[int]) -> Relation:
    """Outer joins as inner ones where the rows that they fill with NULLs are dropped: a known position has none."""
    if not isinstance(relation, Join):
        return relation
    left, right = _without_needless_nulls(relation.left, sure), _without_needless_nulls(relation.right, sure)
    has_left, has_right = (any(leaf.relation in sure for leaf in relations(side)) for side in (left, right))
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
    found = matches(select, nearness)
    for origin in _joined(facts) if found else ():
        region = _coarse(origin.region)
        for known, distance in reached(origin.known, found):
            yield Fact(known, _grown(region, distance))


def _joined(facts: list[Fact]) -> list[Fact]:
    """One fact of each position from those that hold everywhere, and the others."""
    sure: dict[Known, list[Region]] = {}
    for fact in facts:
        if fact.known.sure:
            sure.setdefault(fact.known, []).append(fact.region)
    everywhere = [Fact(known, intersection(regions)) for known, regions in sure.items()]
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


def _placed(select: Select, known: list[Fact], new: list[Fact], fresh: Fresh) -> Select:
    """Hints into the derived table that a position comes from, or beside its table.

    That is in WHERE if the table's rows are sure to be there; else in a derived table around it. What WHERE or ON says
    of a table itself has no need of a hint.
    """
    sure = {fact.relation for fact in (*known, *new) if fact.known.sure}
    for relation, leaf in _leaves(select).items():
        about = [f for f in (*known, *new) if f.relation == relation and f.known.within is None]
        if isinstance(leaf, Derived):
            query = leaf.query
            for fact in about:
                query = _pushed(query, fact.position[0].name, fact.position[1].name, fact.region)
            select = replace(select, from_=replaced(select.from_, leaf, Derived(relation, query)))
            continue
        hints = [Confined(BOOLEAN, *fact.position, fact.region) for fact in about if fact in new]
        if hints and relation in sure:
            select = replace(select, where=conjunction([*conjuncts(select.where), *hints]))
        elif hints:
            wrapped = Wrapped(leaf, select, fresh)
            select = wrapped.apply(replace(select, from_=replaced(select.from_, leaf, wrapped.derived([*hints]))))
    return select


def _pushed(query: Query, lon: str, lat: str, region: Region) -> Query:
    """``query`` with a hint on the position that its outputs ``lon`` and ``lat`` are."""
    inner = _inner_position(query, lon, lat)
    if inner is None:
        return query
    if isinstance(query, Select):
        hint = Confined(BOOLEAN, *inner, region)
        return replace(query, where=conjunction([*conjuncts(query.where), hint]))
    (left, of_left), (right, of_right) = _sides(query, *inner)
    return replace(query, left=_pushed(left, *of_left, region), right=_pushed(right, *of_right, region))
