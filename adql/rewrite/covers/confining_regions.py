"""Find the region of the sky in which a position lies whenever a condition is true.

condition                        the position lies in
position in R                    R
NOT (position in R)              the complement of R (an unknown position is neither inside nor outside)
a AND b                          the intersection of both regions
a OR b                           their union, if both confine the position
lon and lat between constants    the range of these
anything else                    anywhere
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice, permutations

import numpy as np

from adql.ir import Call, Column, Expr, Literal, Nearness, Within, evaluate_constant
from adql.node_classes import node_class, replace
from adql.regions import Complement, Cone, Intersection, Range, Region, Union, position_to_vector
from adql.regions.circle_union import MIN_UNION_CIRCLES, CircleUnion
from adql.rewrite.joins.impossible_conditions import is_never_true

#: Columns of longitude and latitude of one relation
Position = tuple[Column, Column]

#: Maximum number of columns, compared with constants, that are tried as positions in pairs
_MAX_COLUMNS = 24


@node_class(frozen=True, slots=True)
class ImpliedWithin(Expr):
    """A filter that other conditions of the query imply: (lon, lat) lies in ``region``.

    ``add_covers`` replaces it by a cover, or removes it if the table reads only files of the region (``has_files``). It
    is never emitted.
    """

    lon: Column
    lat: Column
    region: Region
    has_files: bool = False

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.lon, self.lat

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        """Return the filter with other coordinates.

        Parameters
        ----------
        children
            Longitude and latitude.

        Returns
        -------
        Expr
            The filter; TRUE if a coordinate is no longer a column, since the filter may be left out.
        """
        lon, lat = children
        if not (isinstance(lon, Column) and isinstance(lat, Column)):
            return Literal(self.type, True)
        return replace(self, lon=lon, lat=lat)


@dataclass(frozen=True, slots=True)
class Confinement:
    """The region of a position. ``is_exact``: the condition is true in all of the region and false outside."""

    region: Region
    is_exact: bool


Confinements = dict[Position, Confinement]

#: Returns whether two columns are the position of a table
PositionTest = Callable[[Column, Column], bool]


def find_confinements(expr: Expr, is_position: PositionTest, negated: bool = False) -> Confinements:
    """Return the regions of all positions that a condition confines.

    Parameters
    ----------
    expr
        The condition.
    is_position
        Returns whether two columns are the position of a table.
    negated
        Whether the condition is false instead of true.

    Returns
    -------
    dict of Position to Confinement
        The region in which each position lies whenever the condition is true.
    """
    if isinstance(expr, (Within, ImpliedWithin)):
        if isinstance(expr.lon, Column) and isinstance(expr.lat, Column):
            return _confine((expr.lon, expr.lat), expr.region, negated, is_exact=isinstance(expr, Within))
        return {}
    if not isinstance(expr, Call):
        return {}
    if expr.name == "NOT":
        return find_confinements(expr.args[0], is_position, not negated)
    if expr.name not in ("AND", "OR"):
        return _confine_by_nearness(expr, negated)
    parts = _flatten_chain(expr, expr.name)
    if (expr.name == "AND") == negated:
        possible = [part for part in parts if not is_never_true(part, negated)]
        return _unite_confinements([find_confinements(part, is_position, negated) for part in possible])
    found = [find_confinements(part, is_position, negated) for part in parts]
    return combine_confinements(found if negated else [*found, *find_ranges(parts, is_position)])


def combine_confinements(found: Iterable[Confinements]) -> Confinements:
    """Return the confinements by a conjunction of conditions.

    Parameters
    ----------
    found
        The confinements by each condition.

    Returns
    -------
    dict of Position to Confinement
        For each position the intersection of its regions. It is exact only if each condition confines only this
        position, exactly.
    """
    found = list(found)
    regions: dict[Position, list[Region]] = {}
    for one in found:
        for position, confinement in one.items():
            regions.setdefault(position, []).append(confinement.region)
    return {
        position: Confinement(intersect_regions(parts), _is_exact_in_all(position, found))
        for position, parts in regions.items()
    }


def find_ranges(conditions: Iterable[Expr], is_position: PositionTest) -> list[Confinements]:
    """Find the positions of which both coordinates are compared with constants.

    Parameters
    ----------
    conditions
        Conditions joined by AND.
    is_position
        Returns whether two columns are the position of a table.

    Returns
    -------
    list of Confinements
        One entry for each position, with a range of coordinates.
    """
    bounds = find_column_bounds(conditions)
    found = []
    for lon, lat in permutations(islice(bounds, _MAX_COLUMNS), 2):
        if lon.relation == lat.relation and is_position(lon, lat):
            region = make_coordinate_range(bounds[lon], bounds[lat])
            if region is not None:
                found.append({(lon, lat): Confinement(region, is_exact=False)})
    return found


def _unite_confinements(found: list[Confinements]) -> Confinements:
    """Return the confinements by the disjunction of conditions."""
    if not found:
        return {}
    common = [position for position in found[0] if all(position in one for one in found[1:])]
    return {
        position: Confinement(unite_regions([one[position].region for one in found]), _is_exact_in_all(position, found))
        for position in common
    }


def _is_exact_in_all(position: Position, found: list[Confinements]) -> bool:
    return all(len(one) == 1 and position in one and one[position].is_exact for one in found)


def _flatten_chain(expr: Call, name: str) -> list[Expr]:
    """Return the operands of nested ANDs or ORs."""
    parts: list[Expr] = []
    for arg in expr.args:
        parts += _flatten_chain(arg, name) if isinstance(arg, Call) and arg.name == name else [arg]
    return parts


def _confine(position: Position, region: Region, negated: bool, *, is_exact: bool) -> Confinements:
    lon, lat = position
    if lon.relation != lat.relation:
        return {}
    region = unite_regions([region])  # unites many circles
    return {position: Confinement(Complement(region) if negated else region, is_exact)}


def _confine_by_nearness(condition: Call, negated: bool) -> Confinements:
    """Return the cone of a nearness between a position of columns and a constant position."""
    near = Nearness.match(condition)
    if near is None:
        return {}
    for (lon, lat), centre in ((near.left, near.right), (near.right, near.left)):
        if not (isinstance(lon, Column) and isinstance(lat, Column)):
            continue
        cone = _make_constant_cone(*centre, near.radius)
        if cone is not None:
            return _confine((lon, lat), cone, negated, is_exact=True)
    return {}


def _make_constant_cone(lon: Expr, lat: Expr, radius: Expr) -> Cone | None:
    values = [value for expr in (lon, lat, radius) if (value := evaluate_constant(expr)) is not None]
    return Cone(*values) if len(values) == 3 else None


# --- regions ----------------------------------------------------------------------------------------------------------


def intersect_regions(regions: list[Region]) -> Region:
    """Return the intersection of one or more regions, without nested intersections."""
    parts = [part for r in regions for part in (r.parts if isinstance(r, Intersection) else (r,))]
    return parts[0] if len(parts) == 1 else Intersection(tuple(parts))


def unite_regions(regions: list[Region]) -> Region:
    """Return the union of one or more regions; many circles become one ``CircleUnion``."""
    parts = [part for r in regions for part in (r.parts if isinstance(r, Union) else (r,))]
    cones = [p for p in parts if isinstance(p, Cone) and p.radius >= 0]
    if len(cones) >= MIN_UNION_CIRCLES:
        parts = [p for p in parts if not (isinstance(p, Cone) and p.radius >= 0)]
        centres = np.array([position_to_vector(c.lon, c.lat) for c in cones])
        parts.append(CircleUnion(centres, np.radians([min(c.radius, 180.0) for c in cones])))
    return parts[0] if len(parts) == 1 else Union(tuple(parts))


# --- ranges of coordinates --------------------------------------------------------------------------------------------


_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

#: Column -> its minimum and maximum
ColumnBounds = dict[Column, tuple[float, float]]


def find_column_bounds(conditions: Iterable[Expr]) -> ColumnBounds:
    """Find the bounds of columns that are compared with constants.

    Parameters
    ----------
    conditions
        Conditions joined by AND.

    Returns
    -------
    ColumnBounds
        For each such column its minimum and maximum, which may be infinite. Strict comparisons have the same bounds as
        others; the minimum exceeds the maximum if no value satisfies the conditions.
    """
    found: ColumnBounds = {}
    for condition in conditions:
        comparison = _read_comparison(condition)
        if comparison is None:
            continue
        column, op, value = comparison
        low, high = found.get(column, (-math.inf, math.inf))
        if op in (">", ">=", "="):
            low = max(low, value)
        if op in ("<", "<=", "="):
            high = min(high, value)
        found[column] = low, high
    return found


def _read_comparison(condition: Expr) -> tuple[Column, str, float] | None:
    if not (isinstance(condition, Call) and condition.name in _MIRRORED):
        return None
    left, right = condition.args
    op = condition.name
    if isinstance(right, Column):
        left, right, op = right, left, _MIRRORED[op]
    value = evaluate_constant(right) if isinstance(left, Column) else None
    return (left, op, value) if isinstance(left, Column) and value is not None else None


def make_coordinate_range(lon: tuple[float, float], lat: tuple[float, float]) -> Range | None:
    """Return the region within bounds of both coordinates.

    Parameters
    ----------
    lon, lat
        The minimum and the maximum in degrees. The loader stores longitudes from 0 to 360.

    Returns
    -------
    Range or None
        The region; None if no row or the whole sky is within the bounds.
    """
    west, east = max(lon[0], 0.0), min(lon[1], 360.0)
    south, north = max(lat[0], -90.0), min(lat[1], 90.0)
    if west > east or south > north or (west, east, south, north) == (0.0, 360.0, -90.0, 90.0):
        return None
    return Range(west, east, south, north)
