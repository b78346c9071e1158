"""Process the columns of a batch in parallel threads: Arrow releases the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa

from clickhouse_schema.datatypes import Field

_CORES = os.cpu_count() or 1
#: for smaller batches threads cost more than they save
_MIN_PARALLEL_CELLS = 20_000

#: starts its threads with the first large batch, so that the process can be forked before
_POOL = ThreadPoolExecutor(_CORES, "column")


def map_columns(
    function: Callable[[pa.Array, Field], pa.Array], columns: Sequence[pa.Array], fields: Sequence[Field]
) -> list[pa.Array]:
    """Apply ``function`` to each column and its field; return the results in order."""
    if _CORES == 1 or len(columns) * len(columns[0]) < _MIN_PARALLEL_CELLS:
        return list(map(function, columns, fields))
    return list(_POOL.map(function, columns, fields))
