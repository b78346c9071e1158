"""The plan of a catalogue: its partitions and margins with their rows, found by counting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.hats.hats_pixel import HatsPixel
from clickhouse_schema.hats.partition_limits import MARGIN_THRESHOLD, MAX_PARTITION_ROWS
from clickhouse_schema.hats.partition_rule import choose_partitions
from tap_service.hats.writing.hats_rows import HatsRows
from tap_service.hats.writing.margin_cells import choose_margin_order, find_margin_cells, unite_cells
from tap_service.storage.engine.engine import Engine, Settings

#: order of the counted cells, of 13.7 arcminutes, and of the skymap
COUNT_ORDER = 8

#: order of the smallest partitions, of 51 arcseconds, whatever their number of rows
MAX_ORDER = 12

#: number of cells that one query counts, and of cells that one query divides into cells of ``MAX_ORDER``
_MAX_COUNTED_CELLS = 100_000
_MAX_DIVIDED_CELLS = 4096


@dataclass(frozen=True, slots=True)
class CellCounts:
    """Rows by cell.

    Attributes
    ----------
    order : int
        The order of the cells.
    cells : NDArray[np.int64]
        The NESTED cells that have rows, ascending.
    rows : NDArray[np.int64]
        The rows of each cell.
    """

    order: int
    cells: NDArray[np.int64]
    rows: NDArray[np.int64]

    def select_cells(self, cells: NDArray[np.int64]) -> CellCounts:
        """Return the counts of the cells among ``cells``, ascending, that have rows."""
        _, indexes, _ = np.intersect1d(self.cells, cells, assume_unique=True, return_indices=True)
        return CellCounts(self.order, self.cells[indexes], self.rows[indexes])

    def find_filled(self, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return a mask of ``cells`` that have rows."""
        if not len(self.cells):
            return np.zeros(len(cells), bool)
        indexes = np.searchsorted(self.cells, cells).clip(max=len(self.cells) - 1)
        found: NDArray[np.bool_] = self.cells[indexes] == cells  # np.isin takes several times as long
        return found


@dataclass(frozen=True, slots=True)
class CataloguePlan:
    """The partitions of a table.

    Attributes
    ----------
    max_rows : int
        The wanted maximum number of rows of a partition.
    partitions, margins : dict[HatsPixel, int]
        Rows of each partition, and of the margin of each pixel, in their order on the sky. Pixels without rows have a
        margin too, if there are rows near them.
    margin_threshold : float
        Width of the margins in arcseconds; 0 if none are written.
    without_position : int
        Number of rows without a position. No file of a HATS catalogue can hold them.
    density : CellCounts
        Rows with a position by cells of ``COUNT_ORDER``.
    margin_cells : dict[HatsPixel, NDArray[np.int64]]
        The cells of ``margin_order`` that hold the rows of each margin, without cells that have no rows.
    """

    max_rows: int
    partitions: dict[HatsPixel, int]
    margins: dict[HatsPixel, int]
    margin_threshold: float
    without_position: int
    density: CellCounts = field(compare=False, repr=False)
    margin_cells: dict[HatsPixel, NDArray[np.int64]] = field(compare=False, repr=False)

    @property
    def rows(self) -> int:
        """The number of rows with a position."""
        return sum(self.partitions.values())

    @property
    def lost_rows(self) -> str:
        """A note about the rows that are in no file of the catalogue; '' if there are none."""
        if not self.without_position:
            return ""
        are = "row has no position and is" if self.without_position == 1 else "rows have no position and are"
        return f"{self.without_position:,} {are} left out: HATS files are divided by the sky"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Consequences of the rows and the options that the user should know."""
        return tuple(filter(None, (self.lost_rows, self._describe_crowded())))

    def _describe_crowded(self) -> str:
        crowded = {pixel: count for pixel, count in self.partitions.items() if count > self.max_rows}
        if not crowded:
            return ""
        fullest, count = max(crowded.items(), key=lambda item: item[1])
        exceed = "exceeds" if len(crowded) == 1 else f"and {len(crowded) - 1:,} more exceed"
        return (
            f"The pixel Norder={fullest.order}, Npix={fullest.number} with {count:,} rows {exceed} {self.max_rows:,} "
            f"rows: pixels of order {MAX_ORDER} are not divided further"
        )

    @property
    def margin_order(self) -> int:
        """The order of the cells of margins."""
        return choose_margin_order(self.margin_threshold)


def plan_catalogue(
    engine: Engine,
    rows: HatsRows,
    *,
    max_rows: int = MAX_PARTITION_ROWS,
    margin_threshold: float = MARGIN_THRESHOLD,
    settings: Settings | None = None,
) -> CataloguePlan:
    """Count the rows of a table and choose its partitions, by the rule of hats-import.

    Parameters
    ----------
    engine : Engine
        The engine.
    rows : HatsRows
        The rows.
    max_rows : int
        Maximum number of rows of a partition.
    margin_threshold : float
        Width of the margins in arcseconds; 0 for none.
    settings : mapping
        Settings of the engine for the counting queries.

    Raises
    ------
    HatsError
        Margins cannot be that wide.
    """
    counted = _count_cells(engine, rows, COUNT_ORDER, settings)
    located = counted.cells < 12 << 2 * COUNT_ORDER
    density = CellCounts(COUNT_ORDER, counted.cells[located], counted.rows[located])
    partitions = _choose_partitions(engine, rows, density, max_rows, settings)
    margins: dict[HatsPixel, CellCounts] = {}
    if margin_threshold:
        margins = _count_margins(engine, rows, density, partitions, choose_margin_order(margin_threshold), settings)
    return CataloguePlan(
        max_rows,
        partitions,
        {pixel: int(counts.rows.sum()) for pixel, counts in margins.items()},
        margin_threshold,
        int(counted.rows[~located].sum()),
        density,
        {pixel: counts.cells for pixel, counts in margins.items()},
    )


def _choose_partitions(
    engine: Engine, rows: HatsRows, density: CellCounts, max_rows: int, settings: Settings | None
) -> dict[HatsPixel, int]:
    """Choose pixels. If a cell of the counted order has too many rows, all cells of that order are counted more finely.

    This includes cells with few rows, which may all be in one quarter of the cell.
    """
    found = choose_partitions(density.order, density.cells, density.rows, max_rows)
    if max(found.values(), default=0) <= max_rows:
        return found
    divided = np.array([pixel.number for pixel in found if pixel.order == density.order], np.int64)
    finer = _count_groups(engine, rows, MAX_ORDER, settings, density.order, _group_cells(divided, _MAX_DIVIDED_CELLS))
    found = {pixel: count for pixel, count in found.items() if pixel.order < density.order}
    found |= choose_partitions(MAX_ORDER, finer.cells, finer.rows, max_rows, density.order)
    return dict(sorted(found.items(), key=lambda item: item[0].first_cell))


def _count_margins(
    engine: Engine,
    rows: HatsRows,
    density: CellCounts,
    partitions: dict[HatsPixel, int],
    order: int,
    settings: Settings | None,
) -> dict[HatsPixel, CellCounts]:
    """Return the rows of each margin by cells of ``order``, without pixels that have none."""
    pixels = sorted([*partitions, *_find_empty_pixels(partitions)], key=lambda pixel: pixel.first_cell)
    cells = {pixel: _find_filled_cells(pixel, order, density) for pixel in pixels}
    groups = _group_cells(unite_cells(*cells.values()), _MAX_COUNTED_CELLS)
    counts = _count_groups(engine, rows, order, settings, order, groups)
    found = {}
    for pixel, around in cells.items():
        margin = counts.select_cells(around)
        if pixel.order > order:  # the pixel is inside one of the cells
            margin.rows[margin.cells == pixel.number >> 2 * (pixel.order - order)] -= partitions.get(pixel, 0)
        if margin.rows.any():
            found[pixel] = margin
    return found


def _find_empty_pixels(partitions: Iterable[HatsPixel]) -> Iterator[HatsPixel]:
    """Yield the largest pixels without rows; with the partitions they cover the sky."""
    filled = {*partitions}
    divided = {
        HatsPixel(order, pixel.number >> 2 * (pixel.order - order)) for pixel in filled for order in range(pixel.order)
    }
    for pixel in (HatsPixel(0, number) for number in range(12)):
        if pixel not in divided and pixel not in filled:
            yield pixel
    for order, number in divided:
        for child in (HatsPixel(order + 1, 4 * number + quarter) for quarter in range(4)):
            if child not in divided and child not in filled:
                yield child


def _find_filled_cells(pixel: HatsPixel, order: int, density: CellCounts) -> NDArray[np.int64]:
    """Return the cells of the margin of a pixel, without those inside cells that have no rows."""
    cells = find_margin_cells(pixel, order)
    finer = order - density.order
    if finer < 0:
        return cells
    return cells[density.find_filled(cells >> 2 * finer)]


def _count_cells(
    engine: Engine,
    rows: HatsRows,
    order: int,
    settings: Settings | None,
    within: tuple[int, NDArray[np.int64]] | None = None,
) -> CellCounts:
    found = engine.fetch_table(rows.count_sql(order, within), settings)
    if not found.num_columns:  # chDB's answer without rows
        return CellCounts(order, np.array([], np.int64), np.array([], np.int64))
    cells, counts = (found.column(index).to_numpy().astype(np.int64) for index in range(2))
    return CellCounts(order, cells, counts)


def _count_groups(
    engine: Engine,
    rows: HatsRows,
    order: int,
    settings: Settings | None,
    group_order: int,
    groups: Iterable[NDArray[np.int64]],
) -> CellCounts:
    """Count the cells of ``order`` in the cells of ``group_order``, one group after the other."""
    counted = [_count_cells(engine, rows, order, settings, within=(group_order, group)) for group in groups]
    return CellCounts(
        order,
        np.concatenate([*(part.cells for part in counted), np.array([], np.int64)]),
        np.concatenate([*(part.rows for part in counted), np.array([], np.int64)]),
    )


def _group_cells(cells: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    for first in range(0, len(cells), size):
        yield cells[first : first + size]
