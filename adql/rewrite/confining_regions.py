"""What conditions say of positions: the region of the sky where a position lies whenever the condition is true.

condition                        position lies in
position in R                    R
NOT (position in R)              the complement of R: an unknown position is neither in nor out
a AND b                          the intersection of both
a OR b                           the union, if both speak of the position
lon and lat between constants    their range
anything else                    anywhere
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import islice, permutations

import numpy as np

from adql.ir import Call, Column, Expr, Literal, Within, evaluate_constant
from adql.regions import Complement, Cone, Intersection, Region, Union, direction
from adql.regions.circle_union import Discs
from adql.rewrite.coordinate_ranges import find_column_bounds, make_coordinate_range
from adql.rewrite.impossible_conditions import NEARNESS, is_never_true

#: Columns of longitude and latitude of one relation
Position = tuple[Column, Column]

#: Columns compared with constants that are tried as positions: each with each
_MOST_COLUMNS = 24

#: Circles of a union from which they are tested together
_MANY = 12


@dataclass(frozen=True, slots=True)
class ImpliedWithin(Expr):
    """A hint: it follows from the query's other conditions that (lon, lat) lies in ``region``.

    Leaving it out changes no result. Covers are made of it; it is never emitted.
    """

    lon: Column
    lat: Column
    region: Region

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.lon, self.lat

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        lon, lat = children
        if not (isinstance(lon, Column) and isinstance(lat, Column)):
            return Literal(self.type, True)
        return replace(self, lon=lon, lat=lat)


@dataclass(frozen=True, slots=True)
class Confinement:
    """``whole``: the condition says just this, true in the region and false outside."""

    region: Region
    whole: bool


#: Whether two columns are the position of a table
IsPosition = Callable[[Column, Column], bool]


def find_confinements(expr: Expr, is_position: IsPosition, negated: bool = False) -> dict[Position, Confinement]:
    """The regions of all positions that ``expr`` confines when it is true; when it is false, if ``negated``."""
    if isinstance(expr, (Within, ImpliedWithin)):
        if isinstance(expr.lon, Column) and isinstance(expr.lat, Column):
            return _leaf((expr.lon, expr.lat), expr.region, negated, whole=isinstance(expr, Within))
        return {}
    if not isinstance(expr, Call):
        return {}
    if expr.name == "NOT":
        return find_confinements(expr.args[0], is_position, not negated)
    if expr.name in ("AND", "OR"):
        parts = _chain(expr, expr.name)
        if (expr.name == "AND") != negated:
            said = [find_confinements(part, is_position, negated) for part in parts]
            return combine_confinements(said if negated else [*said, *find_ranges(parts, is_position)])
        return _either(
            [find_confinements(part, is_position, negated) for part in parts if not is_never_true(part, negated)]
        )
    return _near(expr, negated) if expr.name in NEARNESS else {}


def combine_confinements(said: Iterable[dict[Position, Confinement]]) -> dict[Position, Confinement]:
    """What conditions say that are true together."""
    said = list(said)
    regions: dict[Position, list[Confinement]] = {}
    for one in said:
        for position, confinement in one.items():
            regions.setdefault(position, []).append(confinement)
    return {
        position: Confinement(intersect_regions([f.region for f in found]), _only(position, said))
        for position, found in regions.items()
    }


def find_ranges(conditions: Iterable[Expr], is_position: IsPosition) -> list[dict[Position, Confinement]]:
    """Of positions both of whose coordinates are compared with constants."""
    found = find_column_bounds(conditions)
    said = []
    for lon, lat in permutations(islice(found, _MOST_COLUMNS), 2):
        if lon.relation == lat.relation and is_position(lon, lat):
            region = make_coordinate_range(found[lon], found[lat])
            if region is not None:
                said.append({(lon, lat): Confinement(region, whole=False)})
    return said


def _either(said: list[dict[Position, Confinement]]) -> dict[Position, Confinement]:
    if not said:
        return {}
    common = [position for position in said[0] if all(position in one for one in said[1:])]
    return {p: Confinement(unite_regions([one[p].region for one in said]), _only(p, said)) for p in common}


def _only(position: Position, said: list[dict[Position, Confinement]]) -> bool:
    return all(len(one) == 1 and position in one and one[position].whole for one in said)


def _chain(expr: Call, name: str) -> list[Expr]:
    """The parts of nested ANDs or ORs."""
    return [
        part
        for arg in expr.args
        for part in (_chain(arg, name) if isinstance(arg, Call) and arg.name == name else (arg,))
    ]


def _leaf(position: Position, region: Region, negated: bool, *, whole: bool) -> dict[Position, Confinement]:
    if position[0].relation != position[1].relation:
        return {}
    region = unite_regions([region])  # of many circles put together
    return {position: Confinement(Complement(region) if negated else region, whole)}


def _near(expr: Call, negated: bool) -> dict[Position, Confinement]:
    lon1, lat1, lon2, lat2, radius = expr.args
    for lon, lat, centre in ((lon1, lat1, (lon2, lat2)), (lon2, lat2, (lon1, lat1))):
        cone = _constant_cone(*centre, radius) if isinstance(lon, Column) and isinstance(lat, Column) else None
        if cone is not None and isinstance(lon, Column) and isinstance(lat, Column):
            return _leaf((lon, lat), cone, negated, whole=True)
    return {}


def _constant_cone(lon: Expr, lat: Expr, radius: Expr) -> Cone | None:
    values = evaluate_constant(lon), evaluate_constant(lat), evaluate_constant(radius)
    if any(v is None for v in values):
        return None
    return Cone(*(v for v in values if v is not None))


# --- regions ----------------------------------------------------------------------------------------------------------


def intersect_regions(regions: list[Region]) -> Region:
    parts = [part for r in regions for part in (r.parts if isinstance(r, Intersection) else (r,))]
    return parts[0] if len(parts) == 1 else Intersection(tuple(parts))


def unite_regions(regions: list[Region]) -> Region:
    """Of one or more; many circles are put together in one ``Discs``."""
    parts = [part for r in regions for part in (r.parts if isinstance(r, Union) else (r,))]
    cones = [p for p in parts if isinstance(p, Cone) and p.radius >= 0]
    if len(cones) >= _MANY:
        parts = [p for p in parts if not (isinstance(p, Cone) and p.radius >= 0)]
        parts.append(
            Discs(np.array([direction(c.lon, c.lat) for c in cones]), np.radians([min(c.radius, 180.0) for c in cones]))
        )
    return parts[0] if len(parts) == 1 else Union(tuple(parts))
