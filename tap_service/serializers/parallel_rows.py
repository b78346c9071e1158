"""Encodes the rows of a batch in parallel threads: Arrow releases the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pyarrow as pa

Encoded = TypeVar("Encoded")

_CORES = os.cpu_count() or 1
#: number of cells below which a thread costs more than it saves
_MIN_CELLS = 20_000

#: its threads start with the first large batch, so that the process can be forked before
_POOL = ThreadPoolExecutor(_CORES, "rows")


def map_slices(function: Callable[[pa.RecordBatch], Encoded], batch: pa.RecordBatch) -> list[Encoded]:
    """Apply ``function`` to consecutive slices of a batch, one for each useful core; none for an empty batch."""
    if not batch.num_rows:
        return []
    count = max(1, min(_CORES, batch.num_rows * batch.num_columns // _MIN_CELLS))
    size = -(-batch.num_rows // count)
    first, *others = (batch.slice(start, size) for start in range(0, batch.num_rows, size))
    running = [_POOL.submit(function, part) for part in others]
    return [function(first), *(future.result() for future in running)]
