"""Tables in the engine that exist as long as one query: uploads, merge tables and results of exported queries.

Their names consist of the purpose and the id of the query or export, by which orphans of dead processes are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import pyarrow as pa

from clickhouse_schema.quoting import quote_identifier, quote_string
from tap_service.storage.engine.engine import Engine

#: the database of Skyhouse's tables
DATABASE = "skyhouse"

#: prefixes of the names of uploads
UPLOAD_OF_JOB, UPLOAD_OF_SYNC = "upload_async_", "upload_sync_"

#: prefix of the names of results of exported queries
RESULT_OF_EXPORT = "export_"

#: size in bytes at which a group of batches is inserted
_BLOCK_BYTES = 32 << 20


def quote_table(name: str) -> str:
    """Return the name of a query's table for SQL.

    Parameters
    ----------
    name : str
        The unquoted name, without its database.

    Returns
    -------
    str
        The quoted name, qualified by the database of these tables.
    """
    return f"{quote_identifier(DATABASE)}.{quote_identifier(name)}"


def fill_table(engine: Engine, name: str, create: str, batches: Iterable[pa.RecordBatch]) -> None:
    """Create a table and insert batches; drop it after a failure.

    Parameters
    ----------
    engine : Engine
        The engine.
    name : str
        The unquoted name of the table.
    create : str
        The CREATE statement.
    batches : Iterable[pa.RecordBatch]
        The rows.

    Raises
    ------
    EngineError
        From the engine. Exceptions of ``batches`` pass through.
    """
    try:
        drop_table(engine, name)
        engine.execute(create)
        for block in group_batches(batches):
            engine.insert_batches(quote_table(name), block)
    except BaseException:
        drop_table(engine, name)
        raise


def upload_table_name(query_id: str, number: int) -> str:
    """Return the unquoted name of an uploaded table in the engine.

    Parameters
    ----------
    query_id : str
        The id of the query, such as async-... or sync-...
    number : int
        The index of the upload among the uploads of the query.
    """
    return f"upload_{query_id.replace('-', '_')}_{number}"


def drop_table(engine: Engine, name: str) -> None:
    """Drop a table of a query, if it exists, and wait until its data are deleted.

    Parameters
    ----------
    engine : Engine
        The engine, or the server that has the table.
    name : str
        The unquoted name of the table.

    Raises
    ------
    EngineError
        The table cannot be dropped.
    """
    engine.execute(f"DROP TABLE IF EXISTS {quote_table(name)} SYNC")


@contextmanager
def hold_table(engine: Engine, name: str, create: str, batches: Iterable[pa.RecordBatch]) -> Iterator[None]:
    """Fill a table as ``fill_table`` does, and drop it at the end of the context."""
    fill_table(engine, name, create, batches)
    try:
        yield
    finally:
        drop_table(engine, name)


def drop_orphan_tables(engine: Engine, prefix: str, is_orphan: Callable[[str, float], bool]) -> None:
    """Drop orphaned tables.

    Parameters
    ----------
    engine : Engine
        The engine.
    prefix : str
        The prefix of their names.
    is_orphan : Callable[[str, float], bool]
        Gets the rest of a name and the age of the table in seconds; returns whether to drop it.
    """
    where = f"database = {quote_string(DATABASE)} AND startsWith(name, {quote_string(prefix)})"
    age = "dateDiff('second', metadata_modification_time, now())"
    for row in engine.fetch_table(f"SELECT name, {age} AS age FROM system.tables WHERE {where}").to_pylist():
        if is_orphan(row["name"].removeprefix(prefix), row["age"]):
            drop_table(engine, row["name"])


def group_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Group batches into blocks for single INSERTs, since each INSERT writes a part.

    Parameters
    ----------
    batches : Iterable[pa.RecordBatch]
        Batches of the same schema. They are read on demand.

    Yields
    ------
    list[pyarrow.RecordBatch]
        Batches with at least 32 MiB together, except the last ones.
    """
    block: list[pa.RecordBatch] = []
    for batch in batches:
        block.append(batch)
        if sum(each.nbytes for each in block) >= _BLOCK_BYTES:
            yield block
            block = []
    if block:
        yield block
