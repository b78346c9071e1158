"""Tables in the engine that hold the groups of all pieces of a job for as long as they are put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa

from clickhouse_schema.quoting import identifier, string
from tap_service.storage.engine import Engine

#: The database of what Skyhouse keeps for itself
DATABASE = "skyhouse"
_PREFIX = "groups_"

#: What one INSERT holds in memory, at least
_BLOCK_BYTES = 32 << 20


def table_name(result_key: str) -> str:
    """Of the attempt of a job that has this key for its result."""
    return _PREFIX + result_key.replace("-", "_")


@contextmanager
def merge_table(
    engine: Engine, name: str, types: Mapping[str, str], batches: Iterable[pa.RecordBatch]
) -> Iterator[None]:
    """A table with the rows of ``batches``, in columns of the engine's ``types``; states of set functions are texts."""
    columns = ", ".join(f"{identifier(column)} {_stored(kind)}" for column, kind in types.items())
    storage = f"{identifier(DATABASE)}.{identifier(name)}"
    try:
        engine.execute(f"CREATE OR REPLACE TABLE {storage} ({columns}) ENGINE = MergeTree ORDER BY tuple()")
        for block in _blocks(batches):
            engine.insert(storage, block)
        yield
    finally:
        engine.execute(f"DROP TABLE IF EXISTS {storage} SYNC")


def drop_left_over(engine: Engine, is_needed: Callable[[str], bool]) -> None:
    """Drop the tables that dead workers have left: all but those of the result keys that are needed."""
    where = f"database = {string(DATABASE)} AND startsWith(name, {string(_PREFIX)})"
    for row in engine.query(f"SELECT name FROM system.tables WHERE {where}").to_pylist():
        job_id, _, attempt = row["name"].removeprefix(_PREFIX).rpartition("_")
        if not is_needed(f"{job_id}-{attempt}"):
            engine.execute(f"DROP TABLE IF EXISTS {identifier(DATABASE)}.{identifier(row['name'])} SYNC")


def _stored(kind: str) -> str:
    return "String" if kind.startswith("AggregateFunction(") else kind


def _blocks(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    block: list[pa.RecordBatch] = []
    for batch in batches:
        block.append(batch)
        if sum(each.nbytes for each in block) >= _BLOCK_BYTES:
            yield block
            block = []
    if block:
        yield block
