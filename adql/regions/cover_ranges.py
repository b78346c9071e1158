"""Which numbers of ``clickhouse_schema.shape_cover`` the shapes have that may meet a region."""

from __future__ import annotations

from dataclasses import dataclass

from adql.regions.region import SLACK, Region
from clickhouse_schema.healpix import Cells, max_radius
from clickhouse_schema.shape_cover import EVERYWHERE, number, widest

#: Cells of one order at which larger shapes are no longer told from smaller ones
MOST_CELLS = 100

#: Shapes below 0.2 arcmin are taken together: the cells of this order are few for any region as small.
_FINEST = 13


@dataclass(frozen=True, slots=True)
class Footprints:
    """Numbers of cells of lesser orders, one by one, and the NESTED ``cells`` of ``order`` with all that is inside."""

    numbers: tuple[int, ...]
    order: int
    cells: tuple[int, ...]


def footprints(region: Region) -> Footprints:
    """Of all shapes that may meet ``region``: a shape's cell is within its order's ``widest`` of it."""
    numbers = [EVERYWHERE]
    cells = Cells.base()
    while True:
        reach = max_radius(cells.order) + widest(cells.order) + SLACK
        cells = cells.only(region.distance(cells.centres()) <= reach)
        index = cells.index.tolist()
        if cells.order == _FINEST or len(cells) > MOST_CELLS or 8 * widest(cells.order) < region.size:
            return Footprints(tuple(numbers), cells.order, tuple(index))
        numbers += [number(cells.order, cell) for cell in index]
        cells = cells.divided(1)
