"""The ranges of the columns of a Parquet file: from the statistics in its footer, or without them, from its values."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_Range = tuple[int, int]


class ParquetRanges:
    """The ranges of the columns of ``file``."""

    def __init__(self, file: pq.ParquetFile) -> None:
        self._file = file
        self._indexes: dict[str, list[int]] = {}
        for index in range(file.metadata.num_columns):
            self._indexes.setdefault(file.metadata.schema.column(index).path, []).append(index)

    def find_range(self, column: str, may_scan: bool) -> _Range | None:
        """Return bounds of the values of a column.

        Parameters
        ----------
        column : str
            A column of decimals without a scale, integers, or times.
        may_scan : bool
            Whether a column of decimals without statistics is read to find them.

        Returns
        -------
        tuple of int, or None
            The least and the greatest value, of times in their unit; (0, 0) if all values are NULL. None if they are
            unknown.
        """
        found = _join_ranges(self._read_statistics(column))
        return _scan_column(self._file, column) if found is None and may_scan else found

    def _read_statistics(self, column: str) -> Iterator[_Range | None]:
        """Yield the range in each row group, None if it is unknown; nothing for a row group of NULLs."""
        metadata = self._file.metadata
        for group in range(metadata.num_row_groups):
            for index in self._indexes[column]:
                chunk = metadata.row_group(group).column(index)
                statistics = chunk.statistics
                if statistics is None:
                    yield None
                elif statistics.has_min_max:
                    yield _read_limits(statistics)
                elif statistics.null_count != chunk.num_values:
                    yield None


def _join_ranges(ranges: Iterator[_Range | None]) -> _Range | None:
    known = [*ranges]
    if None in known:
        return None
    lows, highs = zip((0, 0), *known, strict=True)
    return min(lows), max(highs)


def _read_limits(statistics: Any) -> _Range | None:
    """Return the limits of integers and decimals, and the stored numbers of times."""
    is_time = statistics.logical_type.type in ("TIMESTAMP", "DATE")
    limits = (statistics.min_raw, statistics.max_raw) if is_time else (statistics.min, statistics.max)
    low, high = (int(limit) if isinstance(limit, int | Decimal) else None for limit in limits)
    return None if low is None or high is None else (low, high)


def _scan_column(file: pq.ParquetFile, column: str) -> _Range | None:
    found = []
    try:
        for batch in file.iter_batches(columns=[column]):
            for index in batch.schema.get_all_field_indices(column):
                limits = pc.min_max(batch.column(index)).as_py()
                if isinstance(limits["min"], Decimal):
                    found.append((int(limits["min"]), int(limits["max"])))
    except (pa.ArrowException, OSError):  # the error is reported when the rows are read
        return None
    return _join_ranges(iter(found))
