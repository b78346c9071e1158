"""Table sizes of a cross-match, and the best side of its cubes, height of its zones or order of its cells."""

from __future__ import annotations

import math

from adql.ir import Query, Relation, Scan, SetOperation, walk_leaves
from clickhouse_schema.adjacent_cells import find_border_width
from clickhouse_schema.catalogue import UNKNOWN_DENSITY
from clickhouse_schema.healpix import ORDER

#: Candidate sides of cubes, in chords of the radius
_SIDES = (1.0, 2.0, 4.0, 8.0, 16.0)

#: Candidate numbers of zones per radius for counted matches
_ZONES = (2, 3, 4, 6, 8, 12)

#: The cost of a cell that a row meets, in units of the test of a pair
_CELL_COST = 6.5

#: Candidate orders of cells for merged tables
_MERGE_ORDERS = range(2, 23)

#: The cost of a merged row, and of a row near the border of its cell, in units of the test of a pair
_MERGE_COST = 3.0
_BORDER_COST = 9.0

#: Maximum fraction of a cell that may be near its border, for which both borders of a side take at most half of it
_MAX_AT_BORDER = 0.75

#: Maximum cost of counting relative to cubes. Counting reads its tables twice, and the estimates may be wrong.
_MOST_OF_CUBES = 0.7

#: The cost of a copy of a row in a hash table, in units of the test of a pair
_COPY_COST = 10.0


def choose_cube_side(radius: float, crowding: float) -> float:
    """Choose the cheapest side of cubes.

    A row has (1 + 2/f)^3 copies for side f, and is tested with the rows of the other table in a square of side
    (f + 2) r around it.

    Parameters
    ----------
    radius
        The match radius in degrees.
    crowding
        Rows per square degree of the table whose rows are not repeated.

    Returns
    -------
    float
        The side, in chords of the radius.
    """
    return min(_SIDES, key=lambda side: _estimate_cube_cost(side, radius, crowding))


def _estimate_cube_cost(side: float, radius: float, crowding: float) -> float:
    """Return the cost of a row, in units of the test of a pair."""
    return _COPY_COST * (1 + 2 / side) ** 3 + crowding * ((side + 2) * radius) ** 2


def choose_zone_height(radius: float, crowding: float) -> float | None:
    """Choose the cheapest height of the zones of a counted match.

    With f zones per radius, a row meets the cells of a circle of radius f + 1, and is tested with the rows of the cells
    on a ring as wide as twice the radius of a cell.

    Parameters
    ----------
    radius
        The match radius in degrees.
    crowding
        Rows per square degree of the table whose rows are counted.

    Returns
    -------
    float or None
        The height in degrees; None if cubes are as cheap.
    """
    costs = {
        parts: _CELL_COST * math.pi * (parts + 1) ** 2 + crowding * radius**2 * 2 * math.pi * math.sqrt(2) / parts
        for parts in _ZONES
    }
    parts = min(_ZONES, key=costs.__getitem__)
    cubes = min(_estimate_cube_cost(side, radius, crowding) for side in _SIDES)
    return radius / parts if costs[parts] < _MOST_OF_CUBES * cubes else None


def choose_merge_order(radius: float, crowding: float) -> int | None:
    """Choose the cheapest order of the cells by which two stored tables are merged.

    Parameters
    ----------
    radius
        The match radius in degrees.
    crowding
        Rows per square degree of the more crowded table.

    Returns
    -------
    int or None
        The HEALPix order; None if cubes are cheaper.
    """
    if radius < 0:
        return None
    costs = {order: _estimate_merge_cost(order, radius, crowding) for order in _MERGE_ORDERS}
    order = min(_MERGE_ORDERS, key=costs.__getitem__)
    cubes = min(_estimate_cube_cost(side, radius, crowding) for side in _SIDES)
    return order if costs[order] < cubes else None


def _estimate_merge_cost(order: int, radius: float, crowding: float) -> float:
    """Return the cost of a row, in units of the test of a pair."""
    at_border = find_border_part(order, radius)
    if at_border > _MAX_AT_BORDER:
        return math.inf
    return _MERGE_COST + _BORDER_COST * at_border + crowding * _find_cell_area(order) * (1 + at_border**2)


def find_border_part(order: int, radius: float) -> float:
    """Estimate how much of a HEALPix cell is near its border.

    Parameters
    ----------
    order
        The order of the cell.
    radius
        The match radius in degrees.

    Returns
    -------
    float
        The fraction of the cell in which something within the radius may be outside the cell.
    """
    inside = 1 - 2.0 ** (order - ORDER + 1) * find_border_width(radius)
    return 1 - float(max(inside, 0.0) ** 2)


def _find_cell_area(order: int) -> float:
    """Return the area of a HEALPix cell in square degrees."""
    return 360**2 / math.pi / 12 * 0.25**order


def find_crowding(relation: Relation) -> float:
    """Return the number of rows per square degree around a typical row of the most crowded table of a relation.

    Parameters
    ----------
    relation
        A part of FROM.

    Returns
    -------
    float
        Rows per square degree; ``UNKNOWN_DENSITY`` if the density of one of its tables is unknown, or it reads no
        table.
    """
    found = [scan.entry.local_density for scan in _find_scans(relation)]
    known = [crowding for crowding in found if crowding is not None]
    return max(known) if known and len(known) == len(found) else UNKNOWN_DENSITY


def find_row_count(relation: Relation) -> int | None:
    """Return the number of rows of the only catalogue table that a relation reads.

    Parameters
    ----------
    relation
        A part of FROM. Conditions and limits inside it do not change the number.

    Returns
    -------
    int or None
        The rows of the table; None if it is unknown, or if the relation reads several tables or none.
    """
    scans = _find_scans(relation)
    return scans[0].entry.rows if len(scans) == 1 else None


def _find_scans(relation: Relation) -> list[Scan]:
    """Return the tables that a relation reads, without subqueries in conditions."""
    found: list[Scan] = []
    for leaf in walk_leaves(relation):
        found += [leaf] if isinstance(leaf, Scan) else _find_scans_of_query(leaf.query)
    return found


def _find_scans_of_query(query: Query) -> list[Scan]:
    if isinstance(query, SetOperation):
        return [*_find_scans_of_query(query.left), *_find_scans_of_query(query.right)]
    return _find_scans(query.from_)
