"""The duration of each kind of work, precise enough to distinguish seconds from minutes and hours.

Measured with chDB 4.4 on two cores of a shared machine, as processor time of queries of the demo's tables.
"""

from __future__ import annotations

from dataclasses import dataclass

from adql.ir import Select, has_window
from tap_service.services.estimates.row_density import MAX_ROWS

#: for a pair of rows in the same cube, whose separation is computed from unit vectors: 35 ns of one core
CANDIDATE_SECONDS = 2.0e-8
#: for a cell of the sky with which a row is paired when matches are counted: 200 ns of one core
CELL_SECONDS = 1.0e-7
#: for a pair of rows in a product, without a condition or with a comparison: 2 ns to 5 ns of one core
PAIR_SECONDS = 2.5e-9
#: for a pair whose condition contains trigonometric functions: 95 ns of one core
MEASURED_PAIR_SECONDS = 5e-8
#: for a row of a table that is merged with another table in HEALPix order: 45 ns of one core
MERGED_ROW_SECONDS = 3e-8
#: for a pair of rows of one cell in such a merge, most of which differ in latitude: 28 ns of one core
MERGED_PAIR_SECONDS = 1.8e-8
#: for a row near the border of its cell, which is read, copied or sorted again: 150 ns of one core
BORDER_ROW_SECONDS = 1e-7
#: for a copy of a row that a cross-match puts into a hash table for each of its cubes: 60 ns of one core
COPY_SECONDS = 4e-8
#: for a row that a join passes to the next operator: 70 ns of one core with three columns
_ROW_SECONDS = 3.5e-8
#: for a row that is sorted, or put into one of many groups: 200 ns to 400 ns of one core
_ORDERED_ROW_SECONDS = 1.5e-7
#: for a value of the result, written as VOTable by one thread: 20 ns to 50 ns
_VALUE_SECONDS = 4e-8


@dataclass(frozen=True, slots=True)
class Work:
    """The pairs that joins find, and the seconds of work that are proportional to rows."""

    pairs: float = 0.0
    seconds: float = 0.0

    def add_work(self, pairs: float, seconds: float) -> Work:
        """Return the sum of this and other work."""
        return Work(min(self.pairs + pairs, MAX_ROWS), min(self.seconds + seconds, MAX_ROWS))

    def subtract_work(self, other: Work) -> Work:
        """Return this work without ``other``, which is a part of it."""
        return Work(self.pairs - other.pairs, self.seconds - other.seconds)


def estimate_write_seconds(rows: float, columns: int) -> float:
    """Return the seconds to write a result with this number of rows and columns, by one thread."""
    return rows * columns * _VALUE_SECONDS


def find_row_seconds(select: Select) -> float:
    """Return the seconds per row that a SELECT needs to process the rows of its joins."""
    if select.group_by or select.distinct or select.order_by or has_window(select):
        return _ORDERED_ROW_SECONDS
    return 0.0 if select.is_grouped else _ROW_SECONDS


def needs_all_rows(select: Select) -> bool:
    """Return whether the first row of the result needs the last row of FROM, so that a row limit saves nothing."""
    return bool(select.order_by or select.distinct or select.is_grouped or has_window(select))
