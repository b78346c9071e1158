"""Hints that conditions on one table give for another: regions go down into derived tables, and across matches.

What WHERE, HAVING and ON say of a position (``confined``) holds

* inside a derived table, where the position comes from, unless that counts its rows (TOP, OFFSET, window functions);
* grown by the radius, for what the position is matched with by a nearness of constant radius, and so on along chains.

A hint filters the rows of one table before anything else is done with them, so each rule here answers one question:
could a row without it be in a result, or keep an outer join from filling up with NULLs?
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
from adql.resolve.constants import constant
from adql.rewrite.confined import (
    NEARNESS,
    Confined,
    Position,
    confinements,
    intersection,
    ranges,
    together,
)
from adql.rewrite.joins import replaced
from adql.rewrite.wrap import Wrapped
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, FLOAT

#: Degrees that regions are grown by, at most, along a chain of matches
_FARTHEST = 30.0

#: A MOC is grown by way of so many cells.
_CELLS = 500


@dataclass(frozen=True, slots=True)
class Fact:
    """Where a position lies in every row that can be of use.

    ``sure``: in those rows it is not NULL either. ``within``: the join whose ON says it; the fact is about the rows
    that fulfil that ON, and of use for its right side alone.
    """

    position: Position
    region: Region
    sure: bool
    within: Join | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """Two positions within ``radius`` degrees where ``join``'s ON, or without a join WHERE, is true.

    ``always``: it is true in every row of use.
    """

    ends: tuple[Position, Position]
    radius: float
    join: Join | None
    always: bool


def carry(select: Select, fresh: Fresh) -> Select:
    """The pass for one SELECT, before those inside of it."""
    if isinstance(select.from_, Scan) and select.having is None:
        return select
    known = [*_facts(select.where, _leaves(select), sure=True)]
    of_groups = [f for f in _facts(select.having, _leaves(select), sure=True) if {*f.position} <= {*select.group_by}]
    nonnull = {f.position[0].relation for f in known}
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
        on_right = fact.position[0].relation in right
        if relation.kind in ("INNER", "SEMI"):
            yield replace(fact, sure=not outer and not (on_right and relation.kind == "SEMI"))
        else:
            yield fact if on_right else replace(fact, within=relation)


def _facts(condition: Expr | None, leaves: Leaves, *, sure: bool) -> list[Fact]:
    def is_position(lon: Column, lat: Column) -> bool:
        return _is_position(leaves.get(lon.relation), lon.name, lat.name)

    parts = conjuncts(condition)
    said = together([*(confinements(part, is_position) for part in parts), *ranges(parts, is_position)])
    return [Fact(position, confinement.region, sure) for position, confinement in said.items()]


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


def _carried(known: list[Fact], select: Select) -> list[Fact]:
    """The facts that follow across matches."""
    matches = list(_matches(select))
    return [fact for origin in _joined(known) for fact in _reached(origin, matches)] if matches else []


def _matches(select: Select) -> Iterator[Match]:
    yield from _matches_of(select.where, None, always=True)

    def tree(relation: Relation, *, outer: bool) -> Iterator[Match]:
        if isinstance(relation, Join):
            yield from tree(relation.left, outer=outer or relation.kind == "FULL")
            always = not outer and relation.kind in ("INNER", "SEMI")
            yield from _matches_of(relation.condition, relation, always=always)

    yield from tree(select.from_, outer=False)


def _matches_of(condition: Expr | None, join: Join | None, *, always: bool) -> Iterator[Match]:
    for part in conjuncts(condition):
        if not (isinstance(part, Call) and part.name in NEARNESS):
            continue
        lon1, lat1, lon2, lat2, bound = part.args
        radius = constant(bound)
        ends = [
            (lon, lat)
            for lon, lat in ((lon1, lat1), (lon2, lat2))
            if isinstance(lon, Column) and isinstance(lat, Column) and lon.relation == lat.relation
        ]
        if len(ends) == 2 and radius is not None and ends[0][0].relation != ends[1][0].relation:
            yield Match((ends[0], ends[1]), radius, join, always)


def _joined(facts: list[Fact]) -> list[Fact]:
    """One fact of each position from those that hold everywhere, and the others."""
    sure: dict[Position, list[Region]] = {}
    for fact in facts:
        if fact.sure:
            sure.setdefault(fact.position, []).append(fact.region)
    return [Fact(p, intersection(regions), sure=True) for p, regions in sure.items()] + [f for f in facts if not f.sure]


def _reached(origin: Fact, matches: list[Match]) -> Iterator[Fact]:
    seen = {origin.position}
    region = _coarse(origin.region)
    frontier = [(origin, 0.0)]
    while frontier:
        fact, distance = frontier.pop(0)
        for match in matches:
            for here, there in (match.ends, match.ends[::-1]):
                if here != fact.position or there in seen or not 0 <= distance + match.radius <= _FARTHEST:
                    continue
                sure = _across(fact, match, there)
                if sure is None:
                    continue
                seen.add(there)
                grown = distance + match.radius
                reached = Fact(there, _grown(region, grown), sure)
                frontier.append((reached, grown))
                yield reached


def _across(fact: Fact, match: Match, there: Position) -> bool | None:
    """Whether the position ``there`` is sure to be known if the fact crosses the match; None if it does not cross."""
    join = match.join
    if join is None:
        return True if fact.within is None else None
    right = {leaf.relation for leaf in relations(join.right)}
    to_right, from_right = there[0].relation in right, fact.position[0].relation in right
    if fact.within is not None:
        return False if fact.within is join and to_right else None
    if join.kind in ("INNER", "SEMI"):
        return match.always and not (join.kind == "SEMI" and to_right)
    if join.kind == "FULL":
        return False if fact.sure and from_right != to_right else None
    if to_right:
        return False
    return True if from_right and fact.sure else None


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
    sure = {fact.position[0].relation for fact in (*known, *new) if fact.sure}
    for relation, leaf in _leaves(select).items():
        about = [f for f in (*known, *new) if f.position[0].relation == relation and f.within is None]
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
