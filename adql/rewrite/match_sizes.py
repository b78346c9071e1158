"""How large the tables of a match are, and what follows for its cubes."""

from __future__ import annotations

from adql.ir import Query, Relation, Scan, SetOperation, walk_leaves

#: Rows in a square degree of a table that nobody counted: a deep survey, for too many cubes cost less than too few
_UNKNOWN_CROWDING = 10_000.0

#: Sides of cubes to choose from, in chords of the radius
_SIDES = (1.0, 2.0, 4.0, 8.0, 16.0)

#: What a copy of a row costs, which is kept in a hash table, in tests of a pair
_COPY = 10.0


def choose_cube_side(radius: float, crowded: float) -> float:
    """The side of cubes, in chords of the ``radius`` (degrees), with the least work for a row that is repeated.

    Side f has (1 + 2/f)^3 copies, and in a plane (f + 2)^2 r^2 of the other table's rows (``crowded`` a square degree)
    around them to be tested.
    """
    return min(_SIDES, key=lambda f: _COPY * (1 + 2 / f) ** 3 + crowded * ((f + 2) * radius) ** 2)


def find_crowding(relation: Relation) -> float:
    """Rows in a square degree around a typical row, at most: of the most crowded table below."""
    known = [scan.entry.local_density for scan in _scans(relation)]
    if not known or any(crowded is None for crowded in known):
        return _UNKNOWN_CROWDING
    return max(crowded for crowded in known if crowded is not None)


def find_row_count(relation: Relation) -> int | None:
    """Of a table in the catalogue, or a part of it; None if unknown."""
    scans = _scans(relation)
    return scans[0].entry.rows if len(scans) == 1 else None


def _scans(relation: Relation) -> list[Scan]:
    """The tables of the catalogue below, without those of subqueries in conditions."""
    found: list[Scan] = []
    for leaf in walk_leaves(relation):
        found += [leaf] if isinstance(leaf, Scan) else _scans_of(leaf.query)
    return found


def _scans_of(query: Query) -> list[Scan]:
    if isinstance(query, SetOperation):
        return [*_scans_of(query.left), *_scans_of(query.right)]
    return _scans(query.from_)
