"""The columns of a batch side by side on the machine's cores: Arrow works without the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa

from clickhouse_schema.datatypes import Field

_CORES = os.cpu_count() or 1
#: with fewer cells in a batch the threads cost more than they give
_WORTH_IT = 20_000

#: its threads start with the first batch that is worth it: a process may be forked before
_POOL = ThreadPoolExecutor(_CORES, "column")


def by_column(
    work: Callable[[pa.Array, Field], pa.Array], columns: Sequence[pa.Array], fields: Sequence[Field]
) -> list[pa.Array]:
    """``work`` of each column and its field, in their order."""
    if _CORES == 1 or len(columns) * len(columns[0]) < _WORTH_IT:
        return [work(column, field) for column, field in zip(columns, fields, strict=True)]
    return list(_POOL.map(work, columns, fields))
