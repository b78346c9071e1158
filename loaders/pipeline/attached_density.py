"""The number of rows of an attached table in each cell of the sky, without reading its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.healpix import ORDER
from clickhouse_schema.schema_model import Table
from loaders.progress_reporter import Reporter
from tap_service.hats.reading.partition_file import PartitionFile
from tap_service.hats.reading.sky_map_file import read_sky_map


def count_attached_rows(files: Sequence[PartitionFile], table: Table, reporter: Reporter) -> dict[int, int]:
    """Return the number of rows by cell of the density table.

    The catalogue's map of the sky has the counts. Without one, the rows of a row group are distributed evenly over the
    cells between its first and its last cell or, without statistics, the rows of a file over its pixel. Cells that may
    have rows are then included with a count of 0, so that the coverage of the table contains all its rows.

    Parameters
    ----------
    files : sequence of PartitionFile
        The partitions.
    table : Table
        The table, whose layout has the order of the cells.
    reporter : Reporter
        Receives a note if the counts are estimates.

    Returns
    -------
    dict of int to int
        Rows by NESTED cell; rows without a position have the number after the last cell.
    """
    order = table.layout.healpix_order
    if table.layout.position is None:
        return {12 * 4**order: sum(file.rows for file in files)}
    try:
        rows = read_sky_map(files[0].catalogue, files, order)
    except HatsError as error:
        reporter.message(f"{error}: the density of the table is estimated from the footers of its files")
        rows = None
    if rows is not None:
        return {int(cell): int(rows[cell]) for cell in np.flatnonzero(rows)}
    found = np.full(12 << 2 * order, -1)
    for first, end, count in _list_ranges(files):
        shift = 2 * (ORDER - order)
        _spread_rows(found[first >> shift : (end - 1 >> shift) + 1], count)
    return {int(cell): int(found[cell]) for cell in np.flatnonzero(found >= 0)}


def _list_ranges(files: Sequence[PartitionFile]) -> Iterator[tuple[int, int, int]]:
    """Yield half-open ranges of indexes of order 29, each as first, end and number of rows."""
    for file in files:
        if file.cell_ranges:
            groups = zip(file.cell_ranges, file.groups, strict=True)
            yield from ((first, end, rows) for (first, end), (rows, _) in groups if rows)
        elif file.rows:
            yield file.pixel.first_cell, file.pixel.end_cell, file.rows


def _spread_rows(cells: NDArray[np.int64], rows: int) -> None:
    """Distribute rows evenly over ``cells``; a value of -1 means that a cell has had no rows yet."""
    np.maximum(cells, 0, out=cells)
    borders = rows * np.arange(len(cells) + 1) // len(cells)
    cells += np.diff(borders)
