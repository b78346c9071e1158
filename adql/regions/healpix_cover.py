"""HEALPix covers of regions.

One recursive cover serves every shape: a region says of each cell whether it lies outside, wholly inside, or may be
crossed by the border (``Region.classify``); those are divided, or kept as border cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from adql.regions.region import INSIDE, OUTSIDE, Region
from clickhouse_schema.healpix import ORDER, Cells, max_radius

#: About how many cells a cover may have: more make the IN lists slower than the rows they save.
MOST_CELLS = 200


@dataclass(frozen=True, slots=True)
class Cover:
    """NESTED cells by order: those wholly inside the region and those that its border may cross."""

    inside: tuple[tuple[int, tuple[int, ...]], ...]
    border: tuple[tuple[int, tuple[int, ...]], ...]

    @property
    def all(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        cells: dict[int, tuple[int, ...]] = {}
        for order, of_order in (*self.inside, *self.border):
            cells[order] = tuple(sorted(cells.get(order, ()) + of_order))
        return tuple(sorted(cells.items()))


@lru_cache(maxsize=64)  # a query and its estimate ask for the same one
def cover(region: Region, most_cells: int = MOST_CELLS) -> Cover:
    """The cells that hold every point of the region, about ``most_cells`` of them."""
    inside: list[tuple[int, tuple[int, ...]]] = []
    known = 0
    size = region.size
    cells = Cells.base()
    while True:
        classes = region.classify(cells)
        within = classes == INSIDE
        if within.any():
            full = cells.only(within).index
            inside.append((cells.order, tuple(full.tolist())))
            known += len(full)
        cells = cells.only((classes != OUTSIDE) & ~within)
        # a step of several orders costs little while there are few cells, and saves the calls in between
        step = _step(cells, size, known, most_cells) if len(cells) else 0
        if not step:
            break
        cells = cells.divided(step)
    border = ((cells.order, tuple(cells.index.tolist())),) if len(cells) else ()
    return Cover(tuple(inside), border)


def _step(cells: Cells, size: float, known: int, most_cells: int) -> int:
    """How many orders to go down at once; 0 when the cells are small enough, or enough."""
    reach = max_radius(cells.order)
    if cells.order == ORDER:
        return 0
    if reach > size and len(cells) <= 16 and not known:  # nothing can be wholly inside yet
        return min(3 if reach > 8 * size else 2, ORDER - cells.order)
    # dividing a border of n cells leaves about 2n on the next order and n inside; what several shapes have in common
    # may be much smaller than each
    if (known and reach * 16 < size) or 3 * len(cells) > most_cells - known:
        return 0
    return 1
