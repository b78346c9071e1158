"""Tables in the engine that live as long as one query: uploads, and groups of pieces that are put together.

Their names begin with what they are for, and go on with the query that they belong to: what a dead process has left is
found by that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import pyarrow as pa

from clickhouse_schema.quoting import quote_identifier, quote_string
from tap_service.storage.engine.engine import Engine

#: The database of what Skyhouse keeps for itself
DATABASE = "skyhouse"

#: What the names of uploaded tables begin with, by whose they are
UPLOAD_OF_JOB, UPLOAD_OF_SYNC = "upload_async_", "upload_sync_"

#: What one INSERT holds in memory, at least
_BLOCK_BYTES = 32 << 20


def quote_table(name: str) -> str:
    """The quoted name of such a table."""
    return f"{quote_identifier(DATABASE)}.{quote_identifier(name)}"


def fill_table(engine: Engine, name: str, create: str, batches: Iterable[pa.RecordBatch]) -> None:
    """Make the table ``name`` with the statement ``create``, and put the rows in. Nothing is left if that fails."""
    try:
        drop_table(engine, name)
        engine.execute(create)
        for block in group_batches(batches):
            engine.insert_batches(quote_table(name), block)
    except BaseException:
        drop_table(engine, name)
        raise


def upload_table_name(query_id: str, number: int) -> str:
    """Of the tables of one query, which the engine knows by this id: async-... or sync-..."""
    return f"upload_{query_id.replace('-', '_')}_{number}"


def drop_table(engine: Engine, name: str) -> None:
    engine.execute(f"DROP TABLE IF EXISTS {quote_table(name)} SYNC")


@contextmanager
def hold_table(engine: Engine, name: str, create: str, batches: Iterable[pa.RecordBatch]) -> Iterator[None]:
    """The table, as long as the context lasts."""
    fill_table(engine, name, create, batches)
    try:
        yield
    finally:
        drop_table(engine, name)


def drop_orphan_tables(engine: Engine, prefix: str, is_left: Callable[[str, float], bool]) -> None:
    """Drop the tables of this prefix that belong to nothing that runs.

    ``is_left`` is asked about the rest of the name and the age in seconds.
    """
    where = f"database = {quote_string(DATABASE)} AND startsWith(name, {quote_string(prefix)})"
    age = "dateDiff('second', metadata_modification_time, now())"
    for row in engine.fetch_table(f"SELECT name, {age} AS age FROM system.tables WHERE {where}").to_pylist():
        if is_left(row["name"].removeprefix(prefix), row["age"]):
            drop_table(engine, row["name"])


def group_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Together what one INSERT takes."""
    block: list[pa.RecordBatch] = []
    for batch in batches:
        block.append(batch)
        if sum(each.nbytes for each in block) >= _BLOCK_BYTES:
            yield block
            block = []
    if block:
        yield block
